"""A program ends with whoever started it, with all that it has started, and otherwise as it would alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from webapp.service.pieces.lifeline import tied

STARTER = """
import subprocess, sys
subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, start_new_session=True)
print("started", flush=True)
sys.stdin.read()
"""
PROGRAM = "sleep 60 & echo $! $$ >pids.new; mv pids.new pids; wait"


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


def test_it_ends_with_a_starter_that_is_killed(tmp_path: Path) -> None:
    starting = [sys.executable, "-I", "-S", "-c", STARTER, *tied(["sh", "-c", PROGRAM])]
    starter = subprocess.Popen(starting, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 5
    while not (tmp_path / "pids").exists() and time.monotonic() < until:
        time.sleep(0.01)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert [is_alive(pid) for pid in pids] == [True, True]
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    while any(map(is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    assert [is_alive(pid) for pid in pids] == [False, False]
    assert starter.stdin is not None
    starter.stdin.close()


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("cat", 0)])
def test_its_end_is_that_of_the_program(script: str, code: int) -> None:
    with subprocess.Popen(tied(["sh", "-c", script]), stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.wait(5) == code


def test_a_program_that_is_not_there_is_reported_as_a_shell_does() -> None:
    reading, writing = os.pipe()
    ended = subprocess.run(tied(["/nowhere/npm"]), stdin=reading, capture_output=True, check=False)
    os.close(reading)
    os.close(writing)
    assert (ended.returncode, b"Errno 2" in ended.stderr) == (127, True)
