"""How a process learns that it should end: what was left with it is called once the end comes, or at once."""

import os
import signal
from collections.abc import Iterator

import pytest

from webapp.cli.serving.stopping import LEAVE, Stop


@pytest.fixture
def stop() -> Iterator[Stop]:
    before = signal.getsignal(signal.SIGUSR1)
    yield Stop().on(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_sets_it_and_calls_what_was_left(stop: Stop) -> None:
    calls: list[str] = []
    stop.then(lambda: calls.append("first"))
    stop.then(lambda: calls.append("second"))
    assert (stop.is_set(), calls) == (False, [])
    os.kill(os.getpid(), signal.SIGUSR1)
    assert (stop.wait(1), calls) == (True, ["first", "second"])


def test_a_process_that_drains_says_so_first_and_a_second_signal_ends_that() -> None:
    draining = Stop(drain_s=60)
    before = signal.getsignal(signal.SIGALRM)
    try:
        draining._handle(signal.SIGTERM, None)
        assert (draining.is_set(), draining.closing, draining.stopping) == (False, True, True)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
        draining._handle(signal.SIGTERM, None)
        assert draining.is_set()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_process_that_was_replaced_closes_at_once_while_the_service_goes_on() -> None:
    replaced = Stop(drain_s=60)
    replaced._handle(LEAVE, None)
    assert (replaced.is_set(), replaced.closing, replaced.replaced, replaced.stopping) == (True, True, True, False)


def test_what_is_left_after_the_end_is_called_at_once(stop: Stop) -> None:
    calls: list[str] = []
    stop.set()
    stop.then(lambda: calls.append("late"))
    assert calls == ["late"]
    assert stop.lifeline is None
