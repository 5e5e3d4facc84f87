"""Keys that a provider publishes: kept for an hour, fetched again for a key that is new, and seldom.

Which tokens are refused is asserted where they come, with those of Pub/Sub for Gmail (test_app_events.py).
"""

import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from webapp.errors import Unavailable
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.outbound import id_tokens
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.responses import Response

AT, URL = 1_893_456_000_000, "https://provider.example/keys"
OLD, NEW = (RSAKey.generate_key(2048, {"kid": kid}) for kid in ("old", "new"))


@dataclass
class Provider:
    """The host of the keys; ``answer`` is what it says, and ``fetched`` how often."""

    answer: Any
    status: int = 200
    fetched: int = 0
    keys: id_tokens.PublishedKeys = field(default_factory=id_tokens.PublishedKeys)

    def request(self, *_: Any, **__: Any) -> Response:
        self.fetched += 1
        return Response(self.status, {}, json.dumps(self.answer).encode(), URL)

    def at(self, now: int, *, newer: bool = False) -> Any:
        return self.keys.at(cast("OutboundClient", self), URL, now, newer=newer)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    made = Provider({"keys": [OLD.as_dict(private=False)]})
    monkeypatch.setattr(id_tokens, "KEYS", made.keys)
    return made


def claims(provider: Provider, key: RSAKey, now: int = AT) -> Any:
    sent = {"iss": "i", "aud": "a", "exp": now // SECOND + 60, "email": "ada@example.com"}
    token = jwt.encode({"alg": "RS256", "kid": key.kid}, sent, key)
    found = id_tokens.verified_claims(
        cast("OutboundClient", provider), token, issuer="i", keys=URL, audience="a", now=now
    )
    return found and found["email"]


def test_keys_are_kept_for_an_hour_and_fetched_once_a_minute_for_a_new_one(provider: Provider) -> None:
    assert [claims(provider, OLD, AT + ms) for ms in (0, HOUR - 1)] == ["ada@example.com"] * 2
    assert provider.fetched == 1
    assert claims(provider, NEW, AT + SECOND) is None
    assert provider.fetched == 1
    provider.answer = {"keys": [NEW.as_dict(private=False)]}
    assert [claims(provider, NEW, AT + MINUTE) for _ in range(2)] == ["ada@example.com"] * 2
    assert provider.fetched == 2
    assert claims(provider, NEW, AT + MINUTE + HOUR) == "ada@example.com"
    assert provider.fetched == 3


@pytest.mark.parametrize(("status", "answer"), [(503, {"keys": []}), (200, ["keys"]), (200, None)])
def test_keys_that_do_not_come_are_no_verdict(provider: Provider, status: int, answer: Any) -> None:
    provider.status, provider.answer = status, answer
    with pytest.raises(Unavailable, match="Send this again"):
        claims(provider, OLD)
    provider.status, provider.answer = 200, {"keys": [OLD.as_dict(private=False)]}
    assert claims(provider, OLD) == "ada@example.com"


@pytest.mark.parametrize("keys", [[], None, ["key"], [{**OLD.as_dict(private=False), "use": "enc"}], [{"kty": "oct"}]])
def test_a_set_without_a_key_that_signs_verifies_nothing(provider: Provider, keys: Any) -> None:
    provider.answer = {"keys": keys}
    assert claims(provider, OLD) is None


def test_a_token_that_is_too_long_is_not_read(provider: Provider) -> None:
    endless = "a" * (id_tokens.MAX_TOKEN + 1)
    found = id_tokens.verified_claims(
        cast("OutboundClient", provider), endless, issuer="i", keys=URL, audience="a", now=AT
    )
    assert (found, provider.fetched) == (None, 0)
