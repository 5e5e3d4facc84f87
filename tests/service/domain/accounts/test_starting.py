"""The beginning of an attempt: once, in time, and with nothing in the clear."""

from typing import Any

import pytest

from webapp.kit.clock import HOUR, MINUTE
from webapp.service.domain.accounts import attempts, starting
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.accounts.starting import AttemptRequest, SignInStart
from webapp.service.domain.base.failures import AttemptUnknown, LinkExpired


def opened(bench: Any, **wish: Any) -> tuple[Attempt, str]:
    return starting.create(bench.service, bench.token(), AttemptRequest("acme", **wish))


def started(bench: Any, secret: str) -> SignInStart:
    return starting.start(bench.service, secret, scopes=["read"], scope_profile=None, oauth_app_id="oa_1", mode="tab")


def test_a_sign_in_begins_once_and_has_15_minutes_from_then(bench: Any) -> None:
    _, secret = opened(bench)
    bench.clock.advance(HOUR)
    begun = started(bench, secret)
    assert (begun.attempt.status, begun.attempt.expires_at) == ("started", bench.clock.at + 15 * MINUTE)
    with pytest.raises(AttemptUnknown):
        started(bench, secret)


def test_it_does_not_begin_after_its_token_has_ended(bench: Any) -> None:
    _, secret = opened(bench)
    bench.clock.advance(4 * HOUR)
    with pytest.raises(LinkExpired):
        started(bench, secret)


def test_no_secret_stands_in_a_row_or_a_representation(bench: Any) -> None:
    attempt, secret = opened(bench, fields={"subdomain": "canary-subdomain"})
    begun = started(bench, secret)
    row = repr(bench.service.store.one("SELECT * FROM connect_attempts WHERE id = :id", {"id": attempt.id}))
    shown = row + repr(begun) + repr(attempts.find(bench.service, secret))
    for hidden in (secret, begun.state, begun.binding, begun.verifier, "canary-subdomain"):
        assert hidden not in shown
