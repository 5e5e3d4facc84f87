"""How a process learns that it should end: what was left with it is called once the end comes, or at once."""

import os
import signal
from collections.abc import Iterator

import pytest

from webapp.cli.serving.stopping import Stop


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


def test_what_is_left_after_the_end_is_called_at_once(stop: Stop) -> None:
    calls: list[str] = []
    stop.set()
    stop.then(lambda: calls.append("late"))
    assert calls == ["late"]
    assert stop.lifeline is None
