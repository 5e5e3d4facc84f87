"""Where calls are counted: exactly N pass, whoever counts and whoever is killed while it does; what happens while a
storage is away; and addresses that name no storage."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest
from limits.errors import StorageError

from webapp.errors import Throttled
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.base import limit_counters
from webapp.service.domain.base.limit_counters import SLOTS, LimitsAway, MemoryCounters, SharedCounters, StorageCounters
from webapp.service.domain.base.rate_limits import Limit, Limiter
from webapp.setting_values import BadSetting


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000_250)


@pytest.fixture
def counters(clock: FakeClock) -> SharedCounters:
    return SharedCounters(limit_counters.create_shared(), clock)


def in_a_child(work: Callable[[], int]) -> int:
    """The process that does ``work`` and ends with its result."""
    pid = os.fork()
    if pid == 0:
        os._exit(work())
    return pid


def test_two_processes_count_together(clock: FakeClock) -> None:
    address = limit_counters.create_shared()

    def count() -> int:
        mine = SharedCounters(address, clock)
        return sum(mine.hit("k", 60)[0] <= 100 for _ in range(75))

    pids = [in_a_child(count), in_a_child(count)]
    assert sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids) == 100
    assert SharedCounters(address, clock).hit("k", 60, 0)[0] == 150


def test_a_process_that_is_killed_with_the_lock_keeps_it_from_nobody(clock: FakeClock) -> None:
    address = limit_counters.create_shared()

    def hold() -> int:
        mine = SharedCounters(address, clock)
        mine._clock = lambda: os.kill(os.getpid(), signal.SIGKILL) or 0  # type: ignore[func-returns-value]
        mine.hit("k", 60)
        return 0

    assert os.waitstatus_to_exitcode(os.waitpid(in_a_child(hold), 0)[1]) == -signal.SIGKILL
    assert SharedCounters(address, clock).hit("k", 60)[0] == 1


def test_windows_begin_with_their_first_count_and_end(counters: SharedCounters, clock: FakeClock) -> None:
    assert counters.hit("k", 60, 0) == (0, clock() + 60 * SECOND)
    end = clock() + 60 * SECOND
    assert counters.hit("k", 60) == (1, end)
    clock.advance(59_999)
    assert counters.hit("k", 60, 2) == (3, end)
    assert counters.hit("another", 60) == (1, clock() + 60 * SECOND)
    clock.advance(1)
    assert counters.hit("k", 60) == (1, clock() + 60 * SECOND)
    clock.advance(-3_600 * SECOND)
    assert counters.hit("k", 60) == (1, clock() + 60 * SECOND), "a clock that is put back locks nobody out"


def test_a_full_bucket_forgets_what_is_over_then_what_counted_least(
    counters: SharedCounters, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_counters, "BUCKETS", 1)
    counters.hit("over", 1)
    counters.hit("busy", 60, 50)
    clock.advance(2 * SECOND)
    for number in range(3 * SLOTS):
        counters.hit(f"seldom {number}", 60)
        clock.advance(1)
    assert counters.hit("busy", 60, 0)[0] == 50
    assert counters.hit("seldom 0", 60, 0)[0] == 0


def test_any_text_is_a_key(counters: SharedCounters) -> None:
    assert [counters.hit(key, 60)[0] for key in ("", "\0", "\ud800", "é" * 10_000)] == [1, 1, 1, 1]


def test_which_keys_meet_in_a_bucket_cannot_be_told_beforehand(clock: FakeClock) -> None:
    address = limit_counters.create_shared()
    mine, other, elsewhere = (
        SharedCounters(each, clock) for each in (address, address, limit_counters.create_shared())
    )
    assert mine._digest("k") == other._digest("k") != elsewhere._digest("k")
    assert len(mine._secret) == 32 and any(mine._secret)


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
def storage(clock: FakeClock) -> Shared:
    return Shared(clock)


def far(storage: Any, clock: FakeClock, *, closed: bool = False) -> Limiter:
    limiter = Limiter("redis://", clock, closed=closed)
    assert isinstance(limiter._counters, StorageCounters)
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
    assert limiter.status() == "counted in each process"
    assert [passes(limiter, Limit(2, 60)) for _ in range(3)] == [True, True, False]
    assert storage.asked == 0, "it is left alone for a moment"
    assert len(caplog.messages) == 1
    monkeypatch.setattr(limit_counters, "AWAY_S", 0.0)
    assert limiter.status() == "counted in each process"
    storage.is_away = False
    assert passes(limiter, Limit(2, 60)) and storage.asked == 1
    assert limiter.status() == "ok"
    assert caplog.messages[1:] == ["The storage of limits answers again."]


def test_closed_means_that_calls_are_refused_until_it_is_back(storage: Shared, clock: FakeClock) -> None:
    limiter = far(storage, clock, closed=True)
    assert passes(limiter, Limit(2, 60))
    storage.is_away = True
    for _ in range(2):
        with pytest.raises(LimitsAway):
            limiter.hit(Limit(2, 60), "k")
    with pytest.raises(LimitsAway):
        limiter.status()
    storage.is_away = False
    assert limiter.status() == "ok"
    assert [passes(limiter, Limit(2, 60)) for _ in range(2)] == [True, False], "what was counted before counts"


def test_memory_has_no_status(clock: FakeClock) -> None:
    assert Limiter("memory://", clock).status() is None


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("carrier-pigeon://loft", "carrier-pigeon is no kind of storage"),
        ("nonsense", "is no kind of storage"),
        ("async+memory://", "leave out async+"),
    ],
)
def test_a_storage_that_cannot_be_used_is_named(address: str, said: str) -> None:
    with pytest.raises(BadSetting, match="PATCHBAY_LIMITS_STORAGE") as caught:
        limit_counters.open_storage(address)
    assert said in str(caught.value)


def test_a_storage_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(BadSetting, match=r"pip install 'limits\[redis\]'"):
        limit_counters.open_storage("redis://127.0.0.1:1")


def test_what_names_no_storage_is_not_repeated() -> None:
    with pytest.raises(BadSetting, match="use redis://") as caught:
        limit_counters.open_storage("canary-password@redis.example:6379")
    assert "canary" not in str(caught.value)
