"""A sign-in from its beginning to the claims; what a provider says of itself; ID tokens that prove who signs in."""

import dataclasses
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from joserfc import jwk, jwt

from tests.people.openid import ENV, ISSUER, FakeOpenId, key
from webapp.kit.clock import HOUR, SECOND, FakeClock
from webapp.people import openid_provider
from webapp.people.openid_provider import Claims, Discovery, NotSignedIn, OpenIdProvider
from webapp.service.outbound.id_tokens import RETRY_MS, BadIdToken, UnknownKey, Unreachable
from webapp.settings import Settings

NOW = 1_800_000_000
CLAIMS = {
    "iss": "https://id.example.com", "aud": "patchbay", "sub": "1", "exp": NOW + 60, "iat": NOW, "nonce": "n",
}  # fmt: skip


@pytest.fixture
def openid() -> FakeOpenId:
    return FakeOpenId(FakeClock())


@pytest.fixture
def provider(openid: FakeOpenId) -> OpenIdProvider:
    settings = Settings.from_env({**ENV, "PATCHBAY_OIDC_ROLES": "admins=owner"})
    return OpenIdProvider(openid.client, settings, openid.clock)


@pytest.fixture
def signed_in(openid: FakeOpenId, provider: OpenIdProvider) -> Callable[..., Claims]:
    def sign_in(**changes: Any) -> Claims:
        attempt, url = provider.begin()
        answer = dict(parse_qsl(urlsplit(openid.consent(url)).query))
        return provider.finish(dataclasses.replace(attempt, **changes), answer)

    return sign_in


def test_what_the_id_token_lacks_is_asked_for(openid: FakeOpenId, signed_in: Callable[..., Claims]) -> None:
    openid.userinfo = openid.person | {"groups": ["admins"]}
    claims = signed_in()
    assert (claims.subject, claims.email, claims.email_verified) == ("248289", "alice@example.com", True)
    assert claims.groups == {"admins"}
    openid.userinfo |= {"sub": "somebody else"}
    with pytest.raises(NotSignedIn, match="cannot be used"):
        signed_in()
    openid.userinfo, openid.person = None, openid.person | {"groups": []}
    openid.asked.clear()
    assert signed_in().groups == frozenset() and "/userinfo" not in openid.asked


@pytest.mark.parametrize("part", ["nonce", "verifier", "state"])
def test_an_answer_to_another_attempt_is_refused(signed_in: Callable[..., Claims], part: str) -> None:
    with pytest.raises(NotSignedIn):
        signed_in(**{part: "of another"})


def test_a_new_key_is_looked_for(openid: FakeOpenId, signed_in: Callable[..., Claims]) -> None:
    openid.person["groups"] = []
    signed_in()
    openid.signed_with, openid.published = "second", ("first", "second")
    openid.clock.advance(60_000)
    assert signed_in().subject == "248289"
    openid.signed_with = "third"
    with pytest.raises(NotSignedIn):
        signed_in()


def test_a_provider_that_is_away_in_the_middle(
    openid: FakeOpenId, provider: OpenIdProvider, caplog: pytest.LogCaptureFixture
) -> None:
    attempt, url = provider.begin()
    answer = dict(parse_qsl(urlsplit(openid.consent(url)).query))
    openid.down = True
    with pytest.raises(NotSignedIn):
        provider.finish(attempt, answer)
    assert answer["code"] not in caplog.text and attempt.verifier not in caplog.text
    assert attempt.verifier not in repr(attempt) and provider.sign_out_url() is None


@pytest.mark.parametrize(
    ("said", "name", "groups"),
    [
        ({"groups": ["staff", "admins", 7]}, "groups", {"staff", "admins"}),
        ({"groups": "staff"}, "groups", {"staff"}),
        ({"realm_access": {"roles": ["staff"]}}, "realm_access.roles", {"staff"}),
        ({"https://acme.example/roles": ["staff"]}, "https://acme.example/roles", {"staff"}),
        ({"groups": {"staff": True}}, "groups", set()),
        ({}, "groups", set()),
    ],
)
def test_groups_are_texts_wherever_they_stand(said: dict[str, Any], name: str, groups: set[str]) -> None:
    assert openid_provider.read_claims("https://id.example.com", {"sub": "1", **said}, name).groups == groups


@pytest.mark.parametrize(
    ("said", "email", "verified"),
    [
        ({"email": "a@example.com", "email_verified": True}, "a@example.com", True),
        ({"email": "a@example.com", "email_verified": "true"}, "a@example.com", True),
        ({"email": "a@example.com", "email_verified": 1}, "a@example.com", True),
        ({"email": "a@example.com", "email_verified": "false"}, "a@example.com", False),
        ({"email": ["a@example.com"]}, "", False),
    ],
)
def test_an_address_is_confirmed_where_the_provider_says_so(said: dict[str, Any], email: str, verified: bool) -> None:
    read = openid_provider.read_claims("https://id.example.com", {"sub": "1", **said}, "groups")
    assert (read.email, read.email_verified) == (email, verified)


@pytest.fixture
def source(openid: FakeOpenId) -> Discovery:
    return Discovery(openid.client, openid.clock, ISSUER)


def test_it_is_asked_once_an_hour(openid: FakeOpenId, source: Discovery) -> None:
    for _ in range(2):
        assert source.metadata().url("token_endpoint") == f"{ISSUER}/token"
        assert [key["kid"] for key in source.keys()["keys"]] == ["first"]
    assert openid.asked == ["/.well-known/openid-configuration", "/keys"]
    openid.published = ("first", "second")
    assert len(source.keys(newer=True)["keys"]) == 1, "that was just now"
    openid.clock.advance(10 * SECOND)
    assert len(source.keys(newer=True)["keys"]) == 2
    openid.clock.advance(HOUR)
    source.keys()
    assert openid.asked[3:] == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "facts",
    [
        {"issuer": f"{ISSUER}/"},
        {"issuer": None},
        {"token_endpoint": "http://id.example.com/token"},
        {"token_endpoint": None},
        {"jwks_uri": 7},
        {"end_session_endpoint": "javascript:alert(1)"},
    ],
)
def test_what_is_not_itself_or_not_safe_is_refused(
    openid: FakeOpenId, source: Discovery, facts: dict[str, Any]
) -> None:
    openid.facts = facts
    with pytest.raises(Unreachable):
        source.metadata()
    openid.facts = {}
    openid.clock.advance(RETRY_MS)
    assert source.metadata().url("userinfo_endpoint") == f"{ISSUER}/userinfo"


def test_one_that_has_just_failed_is_left_alone_for_a_while(openid: FakeOpenId, source: Discovery) -> None:
    openid.down = True
    for _ in range(3):
        with pytest.raises(Unreachable, match="does not answer"):
            source.metadata()
    assert len(openid.asked) == 1, "nobody else waits for it"
    openid.down = False
    openid.clock.advance(RETRY_MS)
    assert source.metadata().url("token_endpoint") and len(openid.asked) == 2
    openid.clock.advance(-HOUR)
    openid.down = True
    with pytest.raises(Unreachable):
        source.metadata()
    assert len(openid.asked) == 3


def test_an_answer_that_is_no_object(openid: FakeOpenId, source: Discovery) -> None:
    source.metadata()
    openid.facts = {"jwks_uri": f"{ISSUER}/userinfo"}
    openid.down = True
    with pytest.raises(Unreachable, match="does not answer"):
        source.keys()
    assert source.metadata().names("scopes_supported", ("openid",)) == ("openid",)


def signed(header: dict[str, Any] | None = None, by: Any = None, **changes: Any) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return jwt.encode({"alg": "ES256", "kid": "first", **(header or {})}, claims, by or key("first"))


def keys(*names: str) -> dict[str, Any]:
    return {"keys": [key(name).as_dict(private=False) for name in names or ("first",)]}


def verify(token: str, published: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "issuer": CLAIMS["iss"], "client_id": "patchbay", "nonce": "n", "access_token": "an-access-token",
        "supported": ("ES256", "HS256", "none"),
        "now": NOW * 1000,
    }  # fmt: skip
    return openid_provider.verify_id_token(token, lambda *, newer=False: published or keys(), **(facts | changes))


def test_a_good_one_gives_its_claims() -> None:
    assert verify(signed(), keys("second", "first")) == CLAIMS
    assert verify(signed(aud=["patchbay", "other"], azp="patchbay"))["sub"] == "1"
    assert verify(signed(exp=NOW - 30))["sub"] == "1", "clocks differ by seconds"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example.com"},
        {"iss": None},
        {"aud": "other"},
        {"aud": ["patchbay", "other"]},
        {"aud": None},
        {"azp": "other"},
        {"exp": NOW - 61},
        {"exp": None},
        {"iat": None},
        {"iat": NOW + 3600},
        {"nonce": "m"},
        {"nonce": None},
        {"sub": ""},
        {"sub": None},
        {"sub": "x" * 256},
        {"sub": 7},
        {"aud": "other", "azp": "patchbay"},
        {"at_hash": "of another token"},
    ],
)
def test_a_claim_that_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadIdToken):
        verify(signed(**changes))


def test_a_signature_by_another_key_is_refused() -> None:
    with pytest.raises(BadIdToken):
        verify(signed(by=key("second")))
    with pytest.raises(UnknownKey):
        verify(signed({"kid": "second"}, key("second")))
    for nothing in ([], ["?"], [{"kty": "oct", "k": "AA"}]):
        with pytest.raises(UnknownKey):
            verify(signed(), {"keys": nothing})
    assert verify(signed(), {"keys": [keys()["keys"][0] | {"key_ops": ["sign"]}]})


def test_no_signature_and_a_shared_secret_are_refused() -> None:
    secret = jwk.OctKey.import_key(b"a secret that client and provider know")
    by_secret = jwt.encode({"alg": "HS256", "kid": "first"}, CLAIMS, secret, ["HS256"])
    head, body, _ = signed().split(".")
    unsigned = (f"{head}.{body}.", f"eyJhbGciOiJub25lIn0.{body}.", "", "a.b.c", "\ud800", "x" * 70_000)
    for token in (by_secret, *unsigned):
        with pytest.raises(BadIdToken):
            verify(token)
    with pytest.raises(BadIdToken):
        verify(signed(), supported=("RS256",))
    with pytest.raises(BadIdToken):
        verify(signed(), {"keys": [keys()["keys"][0] | {"use": "enc"}]})
