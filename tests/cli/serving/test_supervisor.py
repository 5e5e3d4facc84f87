"""The supervisor's own promises, shown on children that are not ours. What ``serve`` does with it is test_serve's.

A round of replacing: one after another, each once the fresh one is ready; where none is, the old ones stay.
"""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from webapp.cli.serving import supervisor
from webapp.cli.serving.process import LEAVE, Child
from webapp.cli.serving.supervisor import Replacement

SLOW_TO_HEAR = """
import os, signal, threading, time
from webapp.cli.serving import supervisor
from webapp.cli.serving.process import Stop

hears = Stop.on
def late(self, *signals):
    os.kill(os.getppid(), signal.SIGTERM)  # the end comes before the child can hear it
    time.sleep(0.5)
    return hears(self, *signals)
Stop.on = late
child = supervisor.Child("deaf", lambda stop: stop.wait())
raise SystemExit(supervisor.Supervisor([child], lambda name: None).run(lambda: True))
"""


def test_a_child_that_is_told_to_end_before_it_can_hear_ends_all_the_same() -> None:
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", SLOW_TO_HEAR], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begun < 8, "it was killed at the end of its grace, rather than asked"


SHARES = """
import gc, os, signal, sys
from webapp.cli.serving import supervisor

def run(stop):
    print("colorsys" in sys.modules, gc.isenabled(), gc.get_freeze_count() > 1000, flush=True)
    os.kill(os.getppid(), signal.SIGTERM)
    stop.wait()

gc.disable()
assert "colorsys" not in sys.modules
child = supervisor.Child("sharing", run, ["colorsys"])
code = supervisor.Supervisor([child], lambda name: None).run(lambda: True)
print(code, gc.isenabled())
"""


def test_what_a_child_asks_for_is_imported_before_the_fork_and_left_alone_by_collections() -> None:
    done = subprocess.run([sys.executable, "-c", SHARES], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("True True True\n0 True\n", "")


EARLY = """
import os, sys, time
from webapp.cli.serving import supervisor

def run(stop):
    stop.wait()
    os.write(1, b"ended\\n")

early = supervisor.Child("early", run)
supervisor = supervisor.Supervisor([early], lambda name: None)
supervisor.start(early)
assert os.waitpid(early.pid, os.WNOHANG) == (0, 0), "it runs before the others do"
supervisor.end()
print(early.pid)
"""


def test_a_child_may_start_before_the_others_and_be_ended_without_them() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("ended\n0\n", "")


HUNG_UP = """
import os, signal, sys, time
from pathlib import Path
from webapp.cli.serving import supervisor

log = Path(sys.argv[1])

def run(stop):
    log.rename(log.with_suffix(".1"))
    os.kill(os.getppid(), signal.SIGHUP)
    while Path("/proc/self/fd/2").readlink() != log:
        time.sleep(0.01)
    os.write(2, b"child\\n")
    os.kill(os.getppid(), signal.SIGTERM)
    stop.wait()

code = supervisor.Supervisor([supervisor.Child("logging", run)], lambda name: None).run(lambda: True)
os.write(2, b"parent\\n")
raise SystemExit(code)
"""


def test_sighup_reopens_the_logs_of_all_and_ends_nobody(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as errors:
        done = subprocess.run([sys.executable, "-c", HUNG_UP, str(log)], stderr=errors, timeout=30)
    assert done.returncode == 0
    assert log.read_text() == "child\nparent\n" and (tmp_path / "log.1").read_text() == ""


class Signals(list[tuple[int, int]]):
    """What was sent to whom."""


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> Signals:
    sent = Signals()
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


@pytest.fixture
def children() -> list[Child]:
    named = [Child(name, lambda stop: None, answers=name.startswith("web")) for name in ("runner", "web-1", "web-2")]
    for number, child in enumerate(named, start=1):
        start(child, number)
    return named


def start(child: Child, pid: int = 99) -> None:
    child.pid, child.born_at = pid, time.monotonic()


def test_each_is_dismissed_once_its_successor_is_ready(children: list[Child], signals: Signals) -> None:
    runner, first, second = children
    turns = Replacement(children, start)
    assert not turns.turn() and signals == []
    fresh = children[1]
    assert (fresh.name, fresh.pid, len(children)) == ("web-1", 99, 4)
    assert not turns.turn() and signals == []
    fresh.ready = True
    assert not turns.turn()
    assert signals == [(first.pid, LEAVE)] and first.leaving is not None
    next(child for child in children if child.pid == 99 and not child.ready).ready = True
    assert not turns.turn(), "it waits for those that leave"
    assert signals == [(first.pid, LEAVE), (second.pid, LEAVE)] and runner.leaving is None
    children.remove(first)
    children.remove(second)
    assert turns.turn()


def test_a_fresh_one_that_dies_leaves_the_old_ones_alone(
    children: list[Child], signals: Signals, caplog: pytest.LogCaptureFixture
) -> None:
    turns = Replacement(children, start)
    turns.turn()
    assert not turns.failed(children[0])
    with caplog.at_level(logging.ERROR):
        assert turns.failed(children[1])
    assert caplog.messages == ["The new web-1 process did not become ready; the old ones stay."]
    children.pop(1)
    assert turns.turn() and signals == []


def test_a_fresh_one_that_hangs_is_killed(
    children: list[Child], signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "READY_S", 0.0)
    turns = Replacement(children, start)
    turns.turn()
    turns.turn()
    assert signals == [(99, 9)]


def test_one_that_does_not_leave_is_killed(
    children: list[Child], signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "LEAVING_S", -1.0)
    turns = Replacement(children, start)
    turns.turn()
    children[1].ready = True
    turns.turn()
    assert (2, 9) in signals
