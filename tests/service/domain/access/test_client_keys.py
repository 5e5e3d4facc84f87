"""Public keys of clients, and assertions: every way in which one proves nothing."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from joserfc import jwk, jwt

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import MINUTE, SECOND, FakeClock
from webapp.service.domain.access import client_changes, client_keys, clients
from webapp.service.domain.access.client_keys import BadAssertion
from webapp.service.domain.access.clients import Client
from webapp.service.domain.base.service import Service

AUDIENCE = "https://connect.example/v1/oauth/token"
RSA, P256, ED25519 = (
    jwk.RSAKey.generate_key(2048), jwk.ECKey.generate_key("P-256"), jwk.OKPKey.generate_key("Ed25519"),
)  # fmt: skip
Sign = Callable[..., str]


def public(key: Any) -> str:
    return orjson.dumps(key.as_dict(private=False)).decode()


@pytest.fixture
def client(service: Service) -> Client:
    return clients.create(service, name="Server", public_key=client_keys.read_key(public(P256)))[0]


@pytest.fixture
def sign(client: Client, clock: FakeClock) -> Sign:
    def make(key: Any = P256, algorithm: str = "ES256", **changes: Any) -> str:
        now = clock() // SECOND
        claims = {"iss": client.id, "sub": client.id, "aud": AUDIENCE, "exp": now + 60, "jti": "1"} | changes
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode({"alg": algorithm}, claims, key, algorithms=[algorithm])

    return make


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (P256, "ES256"), (ED25519, "Ed25519")])
def test_each_kind_of_key_proves_its_client(
    service: Service, sign: Sign, client: Client, key: Any, algorithm: str
) -> None:
    for text in (public(key), key.as_pem(private=False).decode()):
        client_keys.set_key(service, client.id, client_keys.read_key(text))
    proved = client_keys.authenticate(service, sign(key, algorithm), [AUDIENCE])
    assert proved.id == client.id and client_keys.thumbprint(proved) == key.thumbprint()


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
        client_keys.authenticate(service, sign(**changes), [AUDIENCE])
    assert client_keys.authenticate(service, sign(), [AUDIENCE]), "nothing was used up"


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é.é.é", "W10.W10.W10", "e30.e30.", "a" * 30_000])
def test_garbage_proves_nothing(service: Service, client: Client, text: str) -> None:
    with pytest.raises(BadAssertion):
        client_keys.authenticate(service, text, [AUDIENCE])


def test_an_unsigned_one_proves_nothing(service: Service, sign: Sign) -> None:
    _, payload, _ = sign().split(".")
    with pytest.raises(BadAssertion):
        client_keys.authenticate(service, f"eyJhbGciOiJub25lIn0.{payload}.", [AUDIENCE])


def test_each_counts_once_however_the_clock_moves(service: Service, sign: Sign, clock: FakeClock) -> None:
    assertion = sign(exp=clock() // SECOND + 600)
    client_keys.authenticate(service, assertion, [AUDIENCE])
    for wait in (0, 9 * MINUTE, MINUTE + 30 * SECOND):
        clock.advance(wait)
        with pytest.raises(BadAssertion, match="used before"):
            client_keys.authenticate(service, assertion, [AUDIENCE])
    clock.advance(MINUTE)
    with pytest.raises(BadAssertion, match="expired"):
        client_keys.authenticate(service, assertion, [AUDIENCE])


def test_tokens_end_with_the_key(service: Service, client: Client) -> None:
    token = clients.issue_token(service, client, None, client.credentials(service.clock())[0]).token
    assert clients.verify_token(service, token)[0].id == client.id
    assert clients.authenticate(service, client.id, "") is None, "it has no secret"
    with pytest.raises(Conflict):
        client_keys.remove_key(service, client.id)
    _, secret = client_changes.rotate(service, client.id, overlap_s=60)
    assert clients.authenticate(service, client.id, secret) and clients.authenticate(service, client.id, "") is None
    client_keys.remove_key(service, client.id)
    client_keys.remove_key(service, client.id)
    with pytest.raises(Exception, match="revoked"):
        clients.verify_token(service, token)
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
        client_keys.read_key(text)


def test_nothing_but_the_key_is_kept() -> None:
    text = orjson.dumps(P256.as_dict(private=False) | {"kid": "1", "x5u": "https://a.example"}).decode()
    assert orjson.loads(client_keys.read_key(text)).keys() == {"kty", "crv", "x", "y"}
