"""Counting: exactly N pass, and windows begin with their first call."""

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.service.quotas import with_quotas
from webapp import quotas
from webapp.errors import Throttled
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.base.limit_counters import MEMORY, MemoryCounters
from webapp.service.domain.base.rate_limits import Limit, Limiter
from webapp.service.domain.base.service import Service


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000_250)


@pytest.fixture
def limiter(clock: FakeClock) -> Limiter:
    return Limiter(MEMORY, clock)


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def passes(limiter: Limiter, limit: Limit, key: str = "k") -> bool:
    try:
        limiter.hit(limit, key)
    except Throttled:
        return False
    return True


def test_a_look_counts_nothing_and_tells_what_the_next_call_would(limiter: Limiter, clock: FakeClock) -> None:
    limit = Limit(2, 60)
    for _ in range(5):
        limiter.check(limit, "k")
    clock.advance(30 * SECOND)
    assert passes(limiter, limit) and passes(limiter, limit)
    with pytest.raises(Throttled) as refusal:
        limiter.check(limit, "k")
    assert refusal.value.retry_after == 60, "the window begins with its first call, not with a look"


def test_exactly_n_pass_whoever_comes_at_once(limiter: Limiter, restless: None) -> None:
    limit = Limit(1_000, 60)
    passed: list[Any] = []

    def call() -> None:
        passed.extend(passes(limiter, limit) for _ in range(55))

    threads = [threading.Thread(target=call) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(passed), sum(passed)) == (1_100, 1_000)


def test_a_window_begins_with_its_first_call_and_ends_to_the_millisecond(limiter: Limiter, clock: FakeClock) -> None:
    limit = Limit(2, 60)
    first = limiter.hit(limit, "k")
    assert (first.limit, first.remaining, first.reset_at) == (2, 1, 1_800_000_061)
    clock.advance(59_999)
    assert limiter.hit(limit, "k").remaining == 0
    with pytest.raises(Throttled) as caught:
        limiter.hit(limit, "k")
    assert (caught.value.limit, caught.value.reset_at, caught.value.retry_after) == (2, 1_800_000_061, 1)
    clock.advance(1)
    assert limiter.hit(limit, "k").reset_at == 1_800_000_121


@pytest.mark.parametrize("late_ms", [0, 1, 499, 500, 999, 1_000, 7_750, 59_000, 59_999])
def test_whoever_waits_as_told_passes_first_time(limiter: Limiter, clock: FakeClock, late_ms: int) -> None:
    limit = Limit(1, 60)
    limiter.hit(limit, "k")
    clock.advance(late_ms)
    with pytest.raises(Throttled) as caught:
        limiter.hit(limit, "k")
    told, until = caught.value.retry_after, caught.value.reset_at * SECOND - clock()
    assert 0 < told <= 60 and 0 < until <= 61 * SECOND
    clock.advance(min(told * SECOND, until))
    assert passes(limiter, limit)


def test_what_is_stopped_makes_the_window_no_longer(limiter: Limiter, clock: FakeClock) -> None:
    limit = Limit(1, 10)
    assert passes(limiter, limit)
    for _ in range(9):
        clock.advance(SECOND)
        assert not passes(limiter, limit)
    clock.advance(SECOND)
    assert passes(limiter, limit)


def test_keys_do_not_meet_and_are_forgotten(clock: FakeClock) -> None:
    limiter = Limiter(MEMORY, clock)
    for number in range(3_000):
        assert passes(limiter, Limit(1, 10), f"user {number}")
    clock.advance(10 * SECOND)
    for number in range(2_000):
        assert passes(limiter, Limit(1, 10), f"another {number}")
    assert isinstance(limiter._counters, MemoryCounters) and len(limiter._counters._windows) <= 2_048


def test_a_clock_that_is_put_back_locks_nobody_out(limiter: Limiter, clock: FakeClock) -> None:
    assert passes(limiter, Limit(1, 60))
    clock.advance(-3_600 * SECOND)
    assert passes(limiter, Limit(1, 60))


def test_a_quota_is_counted_by_key_and_says_what_was_too_much(service: Service) -> None:
    strict = with_quotas(service, USER_RUNS=3)
    strict.count(quotas.USER_RUNS, "ada", 2)
    strict.count(quotas.USER_RUNS, "ada")
    strict.count(quotas.USER_RUNS, "ben", 3)
    before = quotas.REFUSALS.counts()["user_runs"]
    with pytest.raises(Throttled, match="Throttled") as caught:
        strict.count(quotas.USER_RUNS, "ada")
    assert caught.value.reason == "One user may call components 3 times a minute; wait a moment."
    assert (caught.value.limit, caught.value.retry_after) == (3, 60)
    assert quotas.REFUSALS.counts()["user_runs"] == before + 1
    service.count(quotas.USER_RUNS, "ada")  # what the operator allows now
