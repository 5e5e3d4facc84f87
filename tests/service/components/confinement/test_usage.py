"""What a call uses in all of its processes and its folder, and how all of them end."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.kit import scratch
from webapp.service.components import limits
from webapp.service.components.confinement import usage


@pytest.fixture
def tree() -> "Iterator[subprocess.Popen[bytes]]":
    """A process with two below it, one of them in a session of its own. Each is what it will be."""
    script = "sleep 60 & setsid sleep 60 & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as process:
        ends = time.monotonic() + 10
        while [_name(pid) for pid in usage.below(process.pid)] != ["sleep", "sleep"]:
            assert time.monotonic() < ends
            time.sleep(0.01)
        yield process
        usage.end(process.pid)


def test_every_process_below_counts_and_ends(tree: "subprocess.Popen[bytes]") -> None:
    below = usage.below(tree.pid)
    assert usage.memory(tree.pid) > usage.memory(below[0]) > 0
    usage.end(tree.pid)
    assert tree.wait(5) == -signal.SIGKILL
    ends = time.monotonic() + 5
    while any(_lives(pid) for pid in below):
        assert time.monotonic() < ends
        time.sleep(0.01)
    usage.end(tree.pid)  # again does nothing
    assert (usage.below(tree.pid), usage.memory(tree.pid)) == ([], 0)


def test_room_counts_every_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(bytes(100_000))
    (tmp_path / "link").symlink_to("/usr")
    assert 100_000 < usage.room(str(tmp_path)) < 200_000
    assert usage.room(str(tmp_path / "absent")) == 0
    assert usage.excess(os.getpid(), tmp_path) is None
    monkeypatch.setattr(limits, "CALL_FOLDER_BYTES", 50_000)
    assert usage.excess(os.getpid(), tmp_path) == "disk"
    monkeypatch.setattr(limits, "CALL_MEMORY_BYTES", 1_000)
    assert usage.excess(os.getpid(), tmp_path) == "memory"


def test_what_cannot_be_looked_into_is_more_than_there_may_be(tmp_path: Path) -> None:
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("a" * 250, dir_fd=place)
        inner = os.open("a" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    assert usage.room(str(tmp_path)) > limits.CALL_FOLDER_BYTES
    scratch.remove(tmp_path)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
