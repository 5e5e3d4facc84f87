"""Counting in memory that processes share: exactly N pass, whoever counts, and whoever is killed while it does."""

import os
import signal
from collections.abc import Callable

import pytest

from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.base import shared_counters
from webapp.service.domain.base.shared_counters import SLOTS, SharedCounters


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000_250)


@pytest.fixture
def counters(clock: FakeClock) -> SharedCounters:
    return SharedCounters(shared_counters.create(), clock)


def in_a_child(work: Callable[[], int]) -> int:
    """The process that does ``work`` and ends with its result."""
    pid = os.fork()
    if pid == 0:
        os._exit(work())
    return pid


def test_two_processes_count_together(clock: FakeClock) -> None:
    address = shared_counters.create()

    def count() -> int:
        mine = SharedCounters(address, clock)
        return sum(mine.hit("k", 60)[0] <= 100 for _ in range(75))

    pids = [in_a_child(count), in_a_child(count)]
    assert sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids) == 100
    assert SharedCounters(address, clock).hit("k", 60, 0)[0] == 150


def test_a_process_that_is_killed_with_the_lock_keeps_it_from_nobody(clock: FakeClock) -> None:
    address = shared_counters.create()

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
    monkeypatch.setattr(shared_counters, "BUCKETS", 1)
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
    address = shared_counters.create()
    mine, other, elsewhere = (SharedCounters(each, clock) for each in (address, address, shared_counters.create()))
    assert mine._digest("k") == other._digest("k") != elsewhere._digest("k")
    assert len(mine._secret) == 32 and any(mine._secret)
