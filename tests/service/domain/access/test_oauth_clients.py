"""OAuth clients: secrets, rotation with and without an overlap, and the client for scripts.

Public keys of clients, and assertions: every way in which one proves nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from joserfc import jwk, jwt

from webapp.errors import Conflict, Invalid, NotFound, Unauthorized
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.access.oauth_clients import BadAssertion, OAuthClient
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects

AUDIENCE = "https://connect.example/v1/oauth/token"
RSA, P256, ED25519 = (
    jwk.RSAKey.generate_key(2048), jwk.ECKey.generate_key("P-256"), jwk.OKPKey.generate_key("Ed25519"),
)  # fmt: skip
Sign = Callable[..., str]


def test_a_client_authenticates_by_its_secret_only(service: Service) -> None:
    client, secret = oauth_clients.create(service, name="Server")
    assert oauth_clients.authenticate(service, client.id, secret) == client
    assert oauth_clients.authenticate(service, client.id, secret + "x") is None
    assert oauth_clients.authenticate(service, client.id, "") is None
    assert oauth_clients.authenticate(service, "nobody", secret) is None
    assert oauth_clients.authenticate(service, "nobody", "") is None


def test_the_secret_is_not_stored(service: Service) -> None:
    _, secret = oauth_clients.create(service, name="Server")
    rows = service.store.all("SELECT * FROM oauth_clients")
    assert rows and secret not in str(rows)


def test_the_dashboards_client_is_derived_and_never_stored(service: Service) -> None:
    client_id, secret = oauth_clients.dashboard(service)
    assert oauth_clients.authenticate(service, client_id, secret) is not None
    assert oauth_clients.every(service.store) == []


def test_the_example_products_client_sees_one_project_and_is_there_with_the_sandbox(
    service: Service, clock: FakeClock
) -> None:
    client_id, secret = oauth_clients.example(service)
    assert oauth_clients.authenticate(service, client_id, secret) is None, "there is no project yet"
    project = projects.create(service, name="Acme")
    clock.advance(SECOND)
    projects.create(service, name="Other")
    client = oauth_clients.authenticate(service, client_id, secret)
    assert client and client.project_id == project.id and "write" not in client.scope and "*" not in client.scope
    assert oauth_clients.authenticate(service, client_id, oauth_clients.dashboard(service)[1]) is None
    assert service.store.one("SELECT 1 FROM oauth_clients") is None
    without = replace(service, settings=replace(service.settings, sandbox=False))
    assert oauth_clients.find(without, client_id) is None


def test_when_a_client_called_last_is_told_to_the_minute(service: Service, clock: FakeClock) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    oauth_clients.flush_uses(service)
    assert oauth_clients.get(service.store, client.id).last_used_at is None
    began = clock()
    for wait, told in ((0, 0), (MINUTE - 1, 0), (1, MINUTE)):
        clock.advance(wait)
        access_tokens.verify(service, token)
        oauth_clients.flush_uses(service)
        assert oauth_clients.get(service.store, client.id).last_used_at == began + told


def test_no_call_waits_until_it_is_written_who_called(service: Service) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    with service.store.write():
        access_tokens.verify(service, token)
    assert oauth_clients.get(service.store, client.id).last_used_at is None
    oauth_clients.flush_uses(service)
    assert oauth_clients.get(service.store, client.id).last_used_at is not None


def test_the_scripted_client_is_made_once_and_keeps_its_secret(service: Service) -> None:
    client, secret = oauth_clients.scripted(service)
    assert oauth_clients.scripted(service) == (client, secret)
    assert oauth_clients.authenticate(service, client.id, secret) == client
    rotated, fresh = oauth_clients.rotate(service, client.id)
    assert fresh != secret and oauth_clients.scripted(service) == (rotated, fresh)
    assert oauth_clients.authenticate(service, client.id, fresh) == rotated


def test_rotation_ends_every_token_at_once(service: Service) -> None:
    client, secret = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    rotated, fresh = oauth_clients.rotate(service, client.id)  # in the same millisecond
    assert oauth_clients.authenticate(service, client.id, secret) is None
    assert oauth_clients.authenticate(service, client.id, fresh) == rotated
    with pytest.raises(Unauthorized, match="revoked"):
        access_tokens.verify(service, token)
    with pytest.raises(NotFound):
        oauth_clients.rotate(service, "nobody")


def test_both_secrets_work_until_the_overlap_ends(service: Service, clock: FakeClock) -> None:
    client, old = oauth_clients.create(service, name="Server")
    rotated, new = oauth_clients.rotate(service, client.id, overlap_s=3600)
    assert rotated.old_secret_ends_at == rotated.rotated_at + HOUR
    clock.advance(HOUR - 1)
    for secret in (old, new):
        assert oauth_clients.authenticate(service, client.id, secret) == rotated
    clock.advance(2)
    assert oauth_clients.authenticate(service, client.id, old) is None
    assert oauth_clients.authenticate(service, client.id, new) == rotated


def test_tokens_end_with_the_secret_that_they_were_issued_for(service: Service, clock: FakeClock) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None, client.secret_hash).token
    rotated, _ = oauth_clients.rotate(service, client.id, overlap_s=1800)
    fresh = access_tokens.issue(service, rotated, None).token
    assert access_tokens.verify(service, token)[0] == rotated
    clock.advance(1800 * SECOND + 1)
    with pytest.raises(Unauthorized, match="revoked"):
        access_tokens.verify(service, token)
    assert access_tokens.verify(service, fresh)[0] == rotated


def test_the_old_secret_is_ended_by_hand(service: Service) -> None:
    client, old = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    _, new = oauth_clients.rotate(service, client.id, overlap_s=3600)
    oauth_clients.end_old_secret(service, client.id)
    assert oauth_clients.authenticate(service, client.id, old) is None
    with pytest.raises(Unauthorized, match="revoked"):
        access_tokens.verify(service, token)
    assert oauth_clients.authenticate(service, client.id, new)
    oauth_clients.end_old_secret(service, client.id)
    verbs = [row["verb"] for row in service.store.all("SELECT verb FROM audit ORDER BY id")]
    assert verbs == ["created", "rotated", "old_secret_ended"], "what has ended is not ended again"
    with pytest.raises(NotFound):
        oauth_clients.end_old_secret(service, "nobody")


def test_no_more_than_two_secrets_work(service: Service) -> None:
    client, first = oauth_clients.create(service, name="Server")
    _, second = oauth_clients.rotate(service, client.id, overlap_s=3600)
    oauth_clients.rotate(service, client.id, overlap_s=3600)
    assert oauth_clients.authenticate(service, client.id, first) is None
    assert oauth_clients.authenticate(service, client.id, second)
    oauth_clients.rotate(service, client.id)
    assert oauth_clients.authenticate(service, client.id, second) is None


def test_an_old_secret_whose_time_is_over_is_forgotten_and_no_clock_revives_it(
    service: Service, clock: FakeClock
) -> None:
    client, first = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    rotated, second = oauth_clients.rotate(service, client.id, overlap_s=600)
    assert oauth_clients.forget_old_secrets(service) == 0 and oauth_clients.authenticate(service, client.id, first)
    clock.advance(600 * SECOND + 1)
    assert oauth_clients.forget_old_secrets(service) == 1
    assert oauth_clients.forget_old_secrets(service) == 0
    clock.advance(-300 * SECOND)
    assert oauth_clients.authenticate(service, client.id, first) is None
    assert oauth_clients.authenticate(service, client.id, second)
    with pytest.raises(Unauthorized, match="revoked"):
        access_tokens.verify(service, token)
    assert oauth_clients.get(service.store, client.id).rotated_at == rotated.rotated_at


def public(key: Any) -> str:
    return orjson.dumps(key.as_dict(private=False)).decode()


@pytest.fixture
def client(service: Service) -> OAuthClient:
    return oauth_clients.create(service, name="Server", public_key=oauth_clients.read_key(public(P256)))[0]


@pytest.fixture
def sign(client: OAuthClient, clock: FakeClock) -> Sign:
    def make(key: Any = P256, algorithm: str = "ES256", **changes: Any) -> str:
        now = clock() // SECOND
        claims = {"iss": client.id, "sub": client.id, "aud": AUDIENCE, "exp": now + 60, "jti": "1"} | changes
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode({"alg": algorithm}, claims, key, algorithms=[algorithm])

    return make


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (P256, "ES256"), (ED25519, "Ed25519")])
def test_each_kind_of_key_proves_its_client(
    service: Service, sign: Sign, client: OAuthClient, key: Any, algorithm: str
) -> None:
    for text in (public(key), key.as_pem(private=False).decode()):
        oauth_clients.set_key(service, client.id, oauth_clients.read_key(text))
    proved = oauth_clients.authenticate_by_key(service, sign(key, algorithm), [AUDIENCE])
    assert proved.id == client.id and oauth_clients.thumbprint(proved) == key.thumbprint()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"iss": "other"}, "iss and sub"),
        ({"sub": "other"}, "No client"),
        ({"sub": 5}, "No client"),
        ({"aud": "https://other.example"}, "aud must be"),
        ({"aud": []}, "aud must be"),
        ({"aud": [{}, None]}, "aud must be|not signed"),
        ({"aud": None}, "aud must be"),
        ({"exp": None}, "expired"),
        ({"exp": 1}, "expired"),
        ({"exp": "soon"}, "expired"),
        ({"exp": 1_800_000_000 + 3_661}, "at most an hour"),
        ({"exp": float("nan")}, "No client"),
        ({"exp": float("inf")}, "No client"),
        ({"nbf": 1_800_000_000 + 300}, "expired"),
        ({"iat": 1_800_000_000 + 300}, "expired"),
        ({"jti": None}, "jti"),
        ({"jti": 7}, "not signed"),
        ({"jti": ""}, "jti"),
        ({"key": RSA, "algorithm": "RS256"}, "not signed"),
        ({"key": jwk.ECKey.generate_key("P-256")}, "not signed"),
        ({"key": jwk.OctKey.import_key(public(P256) + " " * 40), "algorithm": "HS256"}, "not signed"),
    ],
)
def test_what_proves_nothing(service: Service, sign: Sign, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadAssertion, match=sentence):
        oauth_clients.authenticate_by_key(service, sign(**changes), [AUDIENCE])
    assert oauth_clients.authenticate_by_key(service, sign(), [AUDIENCE]), "nothing was used up"


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é.é.é", "W10.W10.W10", "e30.e30.", "a" * 30_000])
def test_garbage_proves_nothing(service: Service, client: OAuthClient, text: str) -> None:
    with pytest.raises(BadAssertion):
        oauth_clients.authenticate_by_key(service, text, [AUDIENCE])


def test_an_unsigned_one_proves_nothing(service: Service, sign: Sign) -> None:
    _, payload, _ = sign().split(".")
    with pytest.raises(BadAssertion):
        oauth_clients.authenticate_by_key(service, f"eyJhbGciOiJub25lIn0.{payload}.", [AUDIENCE])


def test_each_counts_once_however_the_clock_moves(service: Service, sign: Sign, clock: FakeClock) -> None:
    assertion = sign(exp=clock() // SECOND + 600)
    oauth_clients.authenticate_by_key(service, assertion, [AUDIENCE])
    for wait in (0, 9 * MINUTE, MINUTE + 30 * SECOND):
        clock.advance(wait)
        with pytest.raises(BadAssertion, match="used before"):
            oauth_clients.authenticate_by_key(service, assertion, [AUDIENCE])
    clock.advance(MINUTE)
    with pytest.raises(BadAssertion, match="expired"):
        oauth_clients.authenticate_by_key(service, assertion, [AUDIENCE])


def test_tokens_end_with_the_key(service: Service, client: OAuthClient) -> None:
    token = access_tokens.issue(service, client, None, client.credentials(service.clock())[0]).token
    assert access_tokens.verify(service, token)[0].id == client.id
    assert oauth_clients.authenticate(service, client.id, "") is None, "it has no secret"
    with pytest.raises(Conflict):
        oauth_clients.remove_key(service, client.id)
    _, secret = oauth_clients.rotate(service, client.id, overlap_s=60)
    assert (
        oauth_clients.authenticate(service, client.id, secret)
        and oauth_clients.authenticate(service, client.id, "") is None
    )
    oauth_clients.remove_key(service, client.id)
    oauth_clients.remove_key(service, client.id)
    with pytest.raises(Exception, match="revoked"):
        access_tokens.verify(service, token)
    verbs = [row["verb"] for row in service.store.all("SELECT verb FROM audit ORDER BY id")]
    assert verbs == ["created", "rotated", "key_removed"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no public key"),
        ("{}", "no public key"),
        ("[]", "no public key"),
        ("{" * 5_000, "no public key"),
        ('{"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}', "no public key"),
        ("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----", "no public key"),
        (orjson.dumps(P256.as_dict(private=True)).decode(), "private key"),
        (P256.as_pem(private=True).decode(), "private key"),
        (public(jwk.ECKey.generate_key("P-384")), "Use an RSA"),
        (public(jwk.OKPKey.generate_key("X25519")), "Use an RSA"),
    ],
    ids=range(10),
)
def test_what_is_no_key_of_a_client(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        oauth_clients.read_key(text)


def test_nothing_but_the_key_is_kept() -> None:
    text = orjson.dumps(P256.as_dict(private=False) | {"kid": "1", "x5u": "https://a.example"}).decode()
    assert orjson.loads(oauth_clients.read_key(text)).keys() == {"kty", "crv", "x", "y"}
