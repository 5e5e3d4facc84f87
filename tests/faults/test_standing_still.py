"""Fault 9: each process stands still for a while, as on a machine that swaps or whose disk hangs. What was accepted
before, meanwhile and afterwards arrives, each event under one id.

A worker that stands still in the middle of a transaction holds the write lock of the embedded database: what comes
meanwhile is answered with 503 then.
"""

import os
import signal
import sys
import time

import pytest

from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, processes_of, until_more
from tests.faults.test_kill_server import calling, names_of

STILL_S = 20.0
EVENTS = 50

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("victim", ["runner", "web", "worker", "supervisor"])
def test_nothing_is_lost_while_a_process_stands_still(
    server: Running, receiver: Receiver, victim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = client_of(server).deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    with calling(url) as callers:
        until_more(lambda: len(callers.accepted), EVENTS, server.last_words)
        process = pid_of(server, victim)
        children, before = processes_of(server), len(callers.accepted)
        os.kill(process, signal.SIGSTOP)
        time.sleep(STILL_S)
        meanwhile = len(callers.accepted) - before
        os.kill(process, signal.SIGCONT)
        began, before = time.monotonic(), len(callers.accepted)
        until_more(lambda: len(callers.accepted), before + EVENTS, server.last_words)
        again_s = time.monotonic() - began
    until_more(lambda: len(callers.accepted & names_of(receiver).keys()), len(callers.accepted), server.last_words, 0.2)
    arrived = names_of(receiver)
    with capsys.disabled():
        print(
            f"\nthe {victim} stood still: {meanwhile} were accepted meanwhile, {EVENTS} more after {again_s:.1f} s",
            file=sys.stderr,
        )
    assert pid_of(server, victim) == process and children == processes_of(server), "none was started again"
    assert meanwhile > EVENTS or victim not in ("runner", "supervisor"), "the others go on"
    assert all(len(arrived[name]) == 1 for name in callers.accepted), "an event arrived under two ids"


def pid_of(server: Running, victim: str) -> int:
    """The process that does ``victim``'s work, or the one above them."""
    assert server.process is not None
    return server.process.pid if victim == "supervisor" else processes_of(server)[victim]
