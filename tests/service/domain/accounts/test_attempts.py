"""The way of an attempt: each step can be taken once, by whoever may, in time."""

from typing import Any

import pytest

from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.service.domain.accounts import attempts, starting
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.accounts.starting import AttemptRequest, SignInStart
from webapp.service.domain.base.failures import AttemptUnknown, Cancelled, LinkExpired, LinkUsed


def opened(bench: Any, **wish: Any) -> tuple[Attempt, str]:
    return starting.create(bench.service, bench.token(), AttemptRequest("acme", **wish))


def started(bench: Any, secret: str) -> SignInStart:
    return starting.start(
        bench.service, secret, scopes=["read"], scope_profile="read_only", oauth_app_id="oa_1", mode="window"
    )


def connected(bench: Any, attempt: Attempt) -> Attempt:
    with bench.service.store.write() as tx:
        attempts.record_connected(attempt)(tx, "apn_1")
    return attempts.reread(bench.service, attempt)


def test_an_account_whose_attempt_has_ended_otherwise_is_undone(bench: Any) -> None:
    begun = started(bench, opened(bench)[1])
    attempts.fail(bench.service, begun.attempt, Cancelled())
    with pytest.raises(AttemptUnknown):
        bench.connect(on_commit=attempts.record_connected(begun.attempt))
    assert bench.service.store.all("SELECT id FROM accounts") == []


def test_the_whole_way(bench: Any) -> None:
    attempt, secret = opened(bench, fields={"subdomain": "acme"})
    assert attempt.status == "open" and attempts.find(bench.service, secret) == attempt
    begun = started(bench, secret)
    assert begun.attempt.scopes == ("read",) and begun.attempt.scope_profile == "read_only"
    assert begun.fields == {"subdomain": "acme"}
    assert attempts.unsealed(bench.service, begun.attempt) == {"verifier": begun.verifier, "fields": begun.fields}
    returned = attempts.by_state(bench.service, begun.state)
    assert returned is not None
    taken = attempts.claim_sign_in(bench.service, returned, begun.binding)
    assert taken.status == "exchanging"
    done = connected(bench, taken)
    assert (done.status, done.result_account_id) == ("connected", "apn_1")
    assert done.sealed is None and attempts.unsealed(bench.service, done) == {}


def test_one_success_uses_the_link_of_a_token_up(bench: Any) -> None:
    token = bench.token()

    def begun(secret: str) -> SignInStart:
        return starting.start(bench.service, secret, scopes=[], scope_profile=None, oauth_app_id="oa_1", mode="tab")

    def exchanging() -> Attempt:
        begin = begun(starting.create(bench.service, token, AttemptRequest("acme"))[1])
        return attempts.claim_sign_in(bench.service, begin.attempt, begin.binding)

    late, last = starting.create(bench.service, token, AttemptRequest("acme"))
    first, second = exchanging(), exchanging()
    with pytest.raises(AttemptUnknown):
        attempts.claim_keys(bench.service, first)
    connected(bench, first)
    with pytest.raises(LinkUsed):
        bench.connect(on_commit=attempts.record_connected(second))
    assert bench.service.store.all("SELECT id FROM accounts") == []
    for action in (lambda: attempts.claim_keys(bench.service, late), lambda: begun(last)):
        with pytest.raises(LinkUsed):
            action()


def test_continuing_in_another_place_ends_what_was_begun_before(bench: Any) -> None:
    token = bench.token()
    before = [starting.create(bench.service, token, AttemptRequest("acme"))[1] for _ in range(2)]
    begun = [started(bench, secret) for secret in before]
    other = started(bench, opened(bench)[1])
    states = [attempts.reread(bench.service, one.attempt) for one in (*begun, other)]
    assert [(attempt.status, attempt.error_code) for attempt in states] == [
        ("failed", attempts.ELSEWHERE), ("started", None), ("started", None),
    ]  # fmt: skip
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun[0].attempt, begun[0].binding)


def test_each_step_is_taken_once(bench: Any) -> None:
    _, secret = opened(bench)
    begun = started(bench, secret)
    with pytest.raises(AttemptUnknown):
        started(bench, secret)
    attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    connected(bench, begun.attempt)
    late = attempts.fail(bench.service, begun.attempt, Cancelled())
    assert late.status == "connected"  # what is settled stays settled


@pytest.mark.parametrize("binding", [None, "", "somebody else's"])
def test_another_browser_takes_nothing(bench: Any, binding: str | None) -> None:
    begun = started(bench, opened(bench)[1])
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun.attempt, binding)
    assert attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)


def test_nothing_is_found_by_guessing(bench: Any) -> None:
    attempt, secret = opened(bench)
    assert attempts.find(bench.service, "") is None
    assert attempts.find(bench.service, attempt.id) is None  # the id is no secret
    assert attempts.by_state(bench.service, "") is None
    with pytest.raises(AttemptUnknown):
        started(bench, secret[:-1])


def test_an_open_attempt_ends_with_its_token(bench: Any) -> None:
    attempt, _ = opened(bench)
    bench.clock.advance(4 * HOUR)
    with pytest.raises(LinkExpired):
        attempts.claim_keys(bench.service, attempt)


def test_a_sign_in_has_15_minutes(bench: Any) -> None:
    begun = started(bench, opened(bench)[1])
    bench.clock.advance(15 * MINUTE)
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    found = attempts.by_state(bench.service, begun.state)
    assert found is not None and (found.status, found.error_code) == ("failed", attempts.TIMED_OUT)


def test_an_exchange_that_nobody_finishes_has_failed(bench: Any) -> None:
    begun = started(bench, opened(bench)[1])
    taken = attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    bench.clock.advance(attempts.EXCHANGE_TIME)
    assert attempts.by_id(bench.service, taken.id) == taken
    bench.clock.advance(1)
    found = attempts.by_id(bench.service, taken.id)
    assert found is not None and (found.status, found.error_code) == ("failed", attempts.INTERRUPTED)


def test_keys_can_be_given_back_and_sent_again(bench: Any) -> None:
    attempt, _ = opened(bench)
    attempts.reopen(bench.service, attempts.claim_keys(bench.service, attempt))
    taken = attempts.claim_keys(bench.service, attempt)
    failed = attempts.fail(bench.service, taken, Cancelled("No."))
    assert (failed.status, failed.error_code, failed.error_sentence) == ("failed", "access_denied", "No.")


def test_the_latest_of_a_page_is_the_one_begun_last(bench: Any) -> None:
    first, second = (opened(bench, session_id="ls_1") for _ in range(2))
    assert attempts.latest(bench.service, "session_id", "ls_1") is None
    started(bench, second[1])
    bench.clock.advance(1)
    started(bench, first[1])
    found = attempts.latest(bench.service, "session_id", "ls_1")
    assert found is not None and found.id == first[0].id


def test_old_attempts_are_forgotten(bench: Any) -> None:
    opened(bench)
    bench.clock.advance(4 * HOUR + DAY)
    assert attempts.purge(bench.service) == 0
    bench.clock.advance(1)
    assert attempts.purge(bench.service) == 1
