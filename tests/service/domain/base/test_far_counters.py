"""A storage that machines share: what it rounds tells nobody to come too early, and what happens while it is away."""

import logging
from typing import Any

import pytest
from limits.errors import StorageError

from webapp.errors import Throttled
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.base import far_counters
from webapp.service.domain.base.far_counters import FarCounters, LimitsAway
from webapp.service.domain.base.rate_limits import Limit, Limiter, MemoryCounters


class Shared:
    """A shared storage that tells whole seconds, as Redis does; it can go away."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock, self._counters, self.is_away, self.asked = clock, MemoryCounters(clock), False, 0

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        self.asked += 1
        if self.is_away:
            raise StorageError(ConnectionError("gone"))
        return self._counters.hit(key, expiry, amount)[0]

    def get(self, key: str) -> int:
        return self.incr(key, 60, 0)

    def get_expiry(self, key: str) -> float:
        left = self._counters._windows.get(key, (0, self._clock()))[1] - self._clock()
        return (left + SECOND // 2) // SECOND + self._clock() / SECOND

    def check(self) -> bool:
        return not self.is_away


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000_250)


@pytest.fixture
def storage(clock: FakeClock) -> Shared:
    return Shared(clock)


def far(storage: Any, clock: FakeClock, *, closed: bool = False) -> Limiter:
    limiter = Limiter("redis://", clock, closed=closed)
    assert isinstance(limiter._counters, FarCounters)
    limiter._counters._storage = storage
    return limiter


def passes(limiter: Limiter, limit: Limit) -> bool:
    try:
        limiter.hit(limit, "k")
    except Throttled:
        return False
    return True


def test_a_look_counts_nothing(storage: Shared, clock: FakeClock) -> None:
    limiter, limit = far(storage, clock), Limit(1, 60)
    limiter.check(limit, "k")
    assert passes(limiter, limit)
    with pytest.raises(Throttled):
        limiter.check(limit, "k")


@pytest.mark.parametrize("late_ms", [0, 400, 501, 1_499])
def test_rounded_ends_of_windows_tell_nobody_to_come_too_early(storage: Shared, clock: FakeClock, late_ms: int) -> None:
    limiter = far(storage, clock)
    assert passes(limiter, Limit(1, 5))
    clock.advance(late_ms)
    with pytest.raises(Throttled) as caught:
        limiter.hit(Limit(1, 5), "k")
    clock.advance(min(caught.value.retry_after * SECOND, caught.value.reset_at * SECOND - clock()))
    assert passes(limiter, Limit(1, 5))


def test_open_means_that_calls_are_counted_here_until_it_is_back(
    storage: Shared, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "patchbay.limits")
    limiter, storage.is_away = far(storage, clock), True
    assert limiter.standing() == "counted in each process"
    assert [passes(limiter, Limit(2, 60)) for _ in range(3)] == [True, True, False]
    assert storage.asked == 0, "it is left alone for a moment"
    assert len(caplog.messages) == 1
    monkeypatch.setattr(far_counters, "AWAY_S", 0.0)
    assert limiter.standing() == "counted in each process"
    storage.is_away = False
    assert passes(limiter, Limit(2, 60)) and storage.asked == 1
    assert limiter.standing() == "ok"
    assert caplog.messages[1:] == ["The storage of limits answers again."]


def test_closed_means_that_calls_are_refused_until_it_is_back(storage: Shared, clock: FakeClock) -> None:
    limiter = far(storage, clock, closed=True)
    assert passes(limiter, Limit(2, 60))
    storage.is_away = True
    for _ in range(2):
        with pytest.raises(LimitsAway):
            limiter.hit(Limit(2, 60), "k")
    with pytest.raises(LimitsAway):
        limiter.standing()
    storage.is_away = False
    assert limiter.standing() == "ok"
    assert [passes(limiter, Limit(2, 60)) for _ in range(2)] == [True, False], "what was counted before counts"


def test_memory_has_no_standing(clock: FakeClock) -> None:
    assert Limiter("memory://", clock).standing() is None
