"""Keys that a provider publishes: kept for an hour, fetched again for a key that is new, and seldom.

Which tokens are refused is asserted where they come: with those of Pub/Sub for Gmail (test_app_events.py), and those by
which people sign in (test_openid_provider.py).
"""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from webapp.errors import Unavailable
from webapp.kit.clock import HOUR, MINUTE, SECOND, FakeClock
from webapp.service.outbound import id_tokens
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.responses import Response

AT, URL = 1_893_456_000_000, "https://provider.example/keys"
OLD, NEW = (RSAKey.generate_key(2048, {"kid": kid}) for kid in ("old", "new"))


@dataclass
class Provider:
    """The host of the keys; ``answer`` is what it says after ``takes`` has returned, and ``fetched`` how often."""

    answer: Any
    status: int = 200
    fetched: int = 0
    takes: Callable[[], object] = lambda: None

    def request(self, *_: Any, **__: Any) -> Response:
        self.fetched += 1
        self.takes()
        return Response(self.status, {}, json.dumps(self.answer).encode(), URL)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    made = Provider({"keys": [OLD.as_dict(private=False)]})
    monkeypatch.setattr(id_tokens, "KEYS", {})
    return made


def claims(provider: Provider, key: RSAKey, now: int = AT, clock: FakeClock | None = None) -> Any:
    sent = {"iss": "i", "aud": "a", "exp": now // SECOND + 60, "email": "ada@example.com"}
    token = jwt.encode({"alg": "RS256", **({"kid": key.kid} if key.kid else {})}, sent, key)
    found = id_tokens.verified_claims(
        cast("OutboundClient", provider), token, issuer="i", keys=URL, audience="a", clock=clock or FakeClock(now)
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
    assert claims(provider, OLD, AT + id_tokens.RETRY_MS) == "ada@example.com"


def test_callers_who_waited_for_keys_that_did_not_come_do_not_fetch_them_at_once(provider: Provider) -> None:
    clock, begun = FakeClock(AT), threading.Semaphore(0)

    def fails_after_five_seconds() -> None:
        assert provider.fetched > 1 or all(begun.acquire(timeout=10) for _ in range(5))
        clock.advance(5 * SECOND)

    def push() -> str:
        begun.release()
        with pytest.raises(Unavailable) as refused:
            claims(provider, OLD, clock=clock)
        return str(refused.value.message)

    provider.status, provider.takes = 503, fails_after_five_seconds
    with ThreadPoolExecutor(5) as pool:
        answers = [each.result() for each in [pool.submit(push) for _ in range(5)]]
    assert (provider.fetched, len(set(answers))) == (1, 1)
    clock.advance(id_tokens.RETRY_MS - 1)
    push()
    assert provider.fetched == 1
    clock.advance(1)
    push()
    assert provider.fetched == 2


def test_keys_that_are_known_are_used_while_newer_ones_do_not_come(provider: Provider) -> None:
    assert claims(provider, OLD) == "ada@example.com"
    provider.status = 503
    for _ in range(2):
        with pytest.raises(Unavailable):
            claims(provider, NEW, AT + MINUTE)
        assert claims(provider, OLD, AT + MINUTE) == "ada@example.com"
    assert provider.fetched == 2


def test_a_key_verifies_what_it_is_published_for(provider: Provider) -> None:
    """The only key that may sign needs no name, and its token then names none."""
    nameless = RSAKey.generate_key(2048, auto_kid=False)
    public, other = nameless.as_dict(private=False), {**NEW.as_dict(private=False), "kid": None}
    cases: list[tuple[list[dict[str, Any]], str | None]] = [
        ([{**public, "alg": "RS512"}], None),
        ([{**public, "use": "enc", "key_ops": ["verify"]}], None),
        ([{**other, "use": "enc"}, {**other, "alg": "RS512"}, {**public, "key_ops": ["sign"]}], "ada@example.com"),
    ]
    for published, email in cases:
        id_tokens.KEYS.clear()
        provider.answer = {"keys": [{name: value for name, value in key.items() if value} for key in published]}
        assert claims(provider, nameless) == email


@pytest.mark.parametrize("keys", [[], None, ["key"], [{**OLD.as_dict(private=False), "use": "enc"}], [{"kty": "oct"}]])
def test_a_set_without_a_key_that_signs_verifies_nothing(provider: Provider, keys: Any) -> None:
    provider.answer = {"keys": keys}
    assert claims(provider, OLD) is None


def test_a_token_that_is_too_long_is_not_read(provider: Provider) -> None:
    endless = "a" * (id_tokens.MAX_TOKEN + 1)
    found = id_tokens.verified_claims(
        cast("OutboundClient", provider), endless, issuer="i", keys=URL, audience="a", clock=FakeClock(AT)
    )
    assert (found, provider.fetched) == (None, 0)
