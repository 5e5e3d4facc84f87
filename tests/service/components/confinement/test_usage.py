"""What processes hold without a name is counted, once for all of them.

What a call uses in all of its processes and its folder, and how all of them end.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.kit import scratch
from webapp.service.components import limits
from webapp.service.components.confinement import usage


def test_files_without_a_name_and_what_waits_to_be_read_count(tmp_path: Path) -> None:
    """Once, however many processes hold them."""
    script = (
        "import ctypes, os, socket, time\n"
        "file = os.open('opened', os.O_RDWR | os.O_CREAT)\n"
        "os.write(file, bytes(500_000)); os.unlink('opened')\n"
        "mapped = os.open('mapped', os.O_RDWR | os.O_CREAT)\n"
        "os.write(mapped, bytes(700_000)); os.unlink('mapped')\n"
        "ctypes.CDLL(None).mmap(None, ctypes.c_size_t(4096), 1, 1, mapped, ctypes.c_long(0)); os.close(mapped)\n"
        "sockets = socket.socketpair()\n"
        "os.fork()\n"
        "os.write(1, b'ready\\n'); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None and process.stdout.readline() == process.stdout.readline() == b"ready\n"
    everybody = (process.pid, *usage.below(process.pid))
    may_look = Path(f"/proc/{process.pid}/map_files").exists() and os.geteuid() == 0
    taken = usage.nameless(everybody, tmp_path)
    assert len(everybody) == 2 and 1_200_000 <= taken < 1_300_000 + (0 if may_look else limits.FILE_BYTES)
    assert usage.disk(process.pid, tmp_path) == taken + usage.room(str(tmp_path))
    assert 400_000 < usage.buffers(everybody) < 700_000
    assert usage.memory(process.pid) > usage.buffers(everybody)
    usage.end(process.pid)
    process.wait()
    process.stdout.close()
    ends = time.monotonic() + 5
    while usage.nameless(everybody, tmp_path) or usage.buffers(everybody):  # the second ends a moment later
        assert time.monotonic() < ends
        time.sleep(0.01)


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
