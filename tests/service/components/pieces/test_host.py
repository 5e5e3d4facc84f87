"""A process in the runner's hands: lent, resting, and ended where it cannot be trusted to be clean."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.service.components.confinement import usage
from webapp.service.components.confinement.places import Place
from webapp.service.components.pieces import frames
from webapp.service.components.pieces import host as module
from webapp.service.components.pieces.host import Host
from webapp.service.components.pieces.host_process import Package, Process


class Borrower:
    def host_ended(self, reason: str | None, code: int) -> None: ...


class Sleeper(Host):
    """A process that sleeps, whose words the test says."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
        near, self.far = socket.socketpair()
        near.setblocking(False)
        self.ends: list[int] = []
        package = Package("f", "p", "node", memory_mb=64)
        errors, self.said = os.pipe2(os.O_NONBLOCK)
        process = Process(self.process.pid, near, errors)
        super().__init__(package, Place(0, folder), process, lambda _, code: self.ends.append(code))

    def state(self) -> str:
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2][0]

    def wait(self) -> int:
        return self.process.wait(2)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Sleeper]:
    process = Sleeper(tmp_path / "own")
    process.place.folder.mkdir()
    yield process
    process.process.kill()
    process.process.wait()
    process.near.close()
    process.far.close()
    os.close(process.said)


def test_it_is_lent_and_comes_back(sleeper: Sleeper) -> None:
    (sleeper.place.folder / "left").write_text("x")
    assert sleeper.is_spare and sleeper.lend(Borrower(), "alice")
    sleeper.come_back(1e9)
    assert (sleeper.user, sleeper.is_spare, sleeper.borrower, sleeper.ends_at) == ("alice", False, None, 1e9)
    assert list(sleeper.place.folder.iterdir()) == []
    sleeper.far.sendall(frames.message({"log": "late"}))
    assert sleeper.lend(Borrower(), "alice")


@pytest.mark.parametrize("rest", [b"\0\0", b"\0\0\0\0", None], ids=["half a frame", "no frame", "hung up"])
def test_it_is_not_lent_where_something_is_half_said(sleeper: Sleeper, rest: bytes | None) -> None:
    sleeper.far.sendall(rest) if rest is not None else sleeper.far.close()
    assert not sleeper.lend(Borrower(), "alice")
    assert (sleeper.wait(), sleeper.reason) == (-signal.SIGKILL, "crash")


def test_it_is_not_lent_where_it_does_not_stop_talking(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DROPPED_BYTES", 100)
    sleeper.far.sendall(frames.message({"log": "x" * 200}))
    assert not sleeper.lend(Borrower(), "alice")
    assert sleeper.wait() == -signal.SIGKILL


def test_one_of_nobodys_is_used_once(sleeper: Sleeper) -> None:
    assert sleeper.lend(Borrower(), "")
    sleeper.come_back(1e9)
    assert (sleeper.wait(), sleeper.is_ending) == (-signal.SIGKILL, True)
    sleeper.finish(-9)
    assert sleeper.ends == [-9]


def test_it_says_when_it_has_loaded(sleeper: Sleeper) -> None:
    assert not sleeper.load()
    sleeper.far.sendall(frames.message({"ready": True})[:6])
    assert not sleeper.load()
    sleeper.far.sendall(frames.message({"ready": True})[6:])
    assert sleeper.load() and sleeper.is_loaded


@pytest.mark.parametrize("words", [frames.message({"value": 1}), frames.message(1), b"\0\0\0\0", None])
def test_other_first_words_end_it(sleeper: Sleeper, words: bytes | None) -> None:
    sleeper.far.sendall(words) if words is not None else sleeper.far.close()
    assert sleeper.load() and not sleeper.is_loaded
    assert sleeper.wait() == -signal.SIGKILL


def test_what_takes_too_much_is_ended(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper.look_at_use()
    assert not sleeper.is_ending
    monkeypatch.setattr(usage, "room", lambda _: 2**40)
    sleeper.look_at_use()
    monkeypatch.setattr(usage, "memory", lambda _: 2**40)
    sleeper.look_at_use()
    assert (sleeper.reason, sleeper.wait()) == ("disk", -signal.SIGKILL)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", None),
        (b"Segmentation fault", None),
        (b"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "memory"),
        (b"terminate called after throwing an instance of 'std::bad_alloc'", "memory"),
    ],
)
def test_only_what_said_so_ran_out_of_memory(sleeper: Sleeper, said: bytes, reason: str | None) -> None:
    os.write(sleeper.said, said)
    sleeper.finish(-signal.SIGSEGV)
    assert (sleeper.reason, sleeper.ends) == (reason, [-signal.SIGSEGV])


def test_memory_is_looked_at_first(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "memory", lambda _: 2**40)
    sleeper.look_at_use()
    assert sleeper.reason == "memory"
