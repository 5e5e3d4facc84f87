"""The runner's process: an environment without settings of ours, and an end with everything cleared away."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from webapp.service.components.calls import Call
from webapp.service.components.runner import Runner
from webapp.service.components.wire import command


@contextmanager
def running(path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A runner at ``path``, and the end of its lifeline that its starter holds."""
    lifeline, held = os.pipe()
    arguments, environment = command(path, lifeline)
    process = subprocess.Popen(arguments, env=environment, pass_fds=(lifeline,))
    os.close(lifeline)
    try:
        ends = time.monotonic() + 10
        while not path.exists():
            assert process.poll() is None and time.monotonic() < ends
            time.sleep(0.01)
        yield process, held
    finally:
        process.kill()
        process.wait()
        os.close(held)


def test_no_setting_reaches_a_component(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", "canary")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("TZ", "UTC")
    arguments, environment = command(tmp_path / "runner.sock", 9)
    assert "canary" not in f"{arguments} {environment}"
    assert environment["TZ"] == "UTC"
    assert arguments[0] == sys.executable
    assert f"main('{tmp_path}/runner.sock', 9)" in arguments[-1]


def test_it_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    folder = tmp_path / "runner"
    folder.mkdir()
    with running(folder / "runner.sock") as (process, _):
        reply = Runner.connect(folder / "runner.sock").call(Call(path=str(tmp_path / "none.py")))
        assert reply.error is not None and reply.error.kind != "runner"
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
    assert [path.name for path in folder.iterdir()] == [".lock"], "which goes with the folder of whoever made it"


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    folder = tmp_path / "runner"
    folder.mkdir()
    with running(folder / "runner.sock") as (process, held):
        os.close(os.dup(held))
        os.dup2(os.open(os.devnull, os.O_RDONLY), held)  # closes the only other end
        assert process.wait(5) == 0
    assert not folder.exists()


def test_it_removes_what_is_left(tmp_path: Path) -> None:
    left, folder = tmp_path / "patchbay-runner-left", tmp_path / "patchbay-runner-own"
    for path in (left, folder):
        path.mkdir()
    (left / ".lock").touch()
    with running(folder / "s"):
        assert not left.exists() and folder.exists()
