"""ID tokens that prove who signed in, and those that do not."""

from typing import Any

import pytest
from joserfc import jwk, jwt

from tests.people.oidc.openid import key
from webapp.people.oidc import id_tokens
from webapp.people.oidc.id_tokens import BadToken, UnknownKey

NOW = 1_800_000_000
CLAIMS = {
    "iss": "https://id.example.com", "aud": "patchbay", "sub": "1", "exp": NOW + 60, "iat": NOW, "nonce": "n",
}  # fmt: skip


def signed(header: dict[str, Any] | None = None, by: Any = None, **changes: Any) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return jwt.encode({"alg": "ES256", "kid": "first", **(header or {})}, claims, by or key("first"))


def keys(*names: str) -> dict[str, Any]:
    return {"keys": [key(name).as_dict(private=False) for name in names or ("first",)]}


def verify(token: str, published: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "issuer": CLAIMS["iss"], "client_id": "patchbay", "nonce": "n", "supported": ("ES256", "HS256", "none"),
        "now": NOW * 1000,
    }  # fmt: skip
    return id_tokens.verify(token, published or keys(), **(facts | changes))


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
    ],
)
def test_a_claim_that_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadToken):
        verify(signed(**changes))


def test_a_signature_by_another_key_is_refused() -> None:
    with pytest.raises(BadToken):
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
        with pytest.raises(BadToken):
            verify(token)
    with pytest.raises(BadToken):
        verify(signed(), supported=("RS256",))
    with pytest.raises(BadToken):
        verify(signed(), {"keys": [keys()["keys"][0] | {"use": "enc"}]})
