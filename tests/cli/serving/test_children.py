"""One child process: it says when it is ready, and ends by either signal."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from webapp.cli.serving.children import Child
from webapp.cli.serving.stopping import LEAVE, Stop


def work(stop: Stop) -> None:
    stop.tell_ready()
    stop.wait()
    os._exit(7 if stop.replaced else 3)


@pytest.fixture
def lifeline() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 3), (LEAVE, 7)], ids=["ended", "replaced"])
def test_it_says_when_it_is_ready_and_how_it_was_told_to_end(
    lifeline: tuple[int, int], number: signal.Signals, code: int
) -> None:
    child = Child("one", work, answers=True)
    assert not child.is_ready(), "it was not forked"
    child.fork(lifeline[0], (lifeline[1],), lambda name: None, 0.0)
    ends = time.monotonic() + 5
    while not child.is_ready() and time.monotonic() < ends:
        time.sleep(0.005)
    assert child.is_ready() and child.is_ready()
    os.kill(child.pid, number)
    assert os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]) == code
    child.is_gone()
    assert not child.is_ready()
    assert (child.fresh().name, child.fresh().answers, child.fresh().pid) == ("one", True, 0)
