"""The process that forks: what comes of it is ours, lives where it was told, and has met nothing since.

A process waits for the next call, knows nothing of the one before, and goes when no call comes.
"""

import json
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components import child, process_tree
from webapp.service.components import forks as forking
from webapp.service.components.calls import Call
from webapp.service.components.child_pipes import Pipes
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Place, Places
from webapp.service.components.forks import Forks, ForkServer
from webapp.service.components.runner import Runner

MET = {"by now": "nothing"}
SOURCE = """
import os
from webapp.service.components.authoring import Action

class Look(Action):
    def run(self, ctx):
        open("left", "w").close()
        return [os.getpid(), os.getcwd(), sorted(os.listdir()), os.listdir("/proc/self/fd"), len(ctx.props["text"])]
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    def live(pipes: Pipes, home: Any) -> None:
        told = [os.getppid() == home.runner, home.place.number, str(home.place.folder), home.relay, *MET.values()]
        os.write(pipes.messages, json.dumps(told).encode())
        os._exit(0)

    monkeypatch.setattr(child, "run", live)
    process_tree.adopt_orphans()
    begun, fork, asker = ForkServer(Confinement()), os.fork, os.getpid()
    failures = [OSError("too many processes")] if "fails" in getattr(request, "param", "") else []

    def fork_or_fail() -> int:
        if failures and os.getpid() != asker:
            raise failures.pop()
        return fork()

    monkeypatch.setattr(os, "fork", fork_or_fail)
    pid = begun.start()
    yield begun
    begun.close()
    os.waitpid(pid, 0)
    process_tree.adopt_orphans(yes=False)


@pytest.mark.parametrize("relay", [False, True])
def test_what_it_forks_is_our_child_and_has_met_nothing(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relay: bool
) -> None:
    monkeypatch.setitem(MET, "by now", "a call")
    told = json.loads(first_message(server, Place(7, tmp_path), relay=relay))
    assert told == [True, 7, str(tmp_path), relay, "nothing"]


def first_message(server: ForkServer, place: Place, *, relay: bool = False) -> bytes:
    reading, messages = os.pipe()
    near, far = socket.socketpair()
    with near, far, os.fdopen(reading, "rb") as told, os.fdopen(messages, "wb") as written:
        pid = server.fork(place, Pipes(messages, messages, far.fileno()), relay=relay)
        written.close()
        message = told.read()
    assert os.waitpid(pid, 0)[1] == 0
    return message


@pytest.mark.parametrize("server", ["fails once"], indirect=True)
def test_too_many_processes_end_nobody_but_the_call(server: ForkServer, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the fork server could not fork"):
        first_message(server, Place(1, tmp_path))
    assert json.loads(first_message(server, Place(2, tmp_path)))[1] == 2


def test_a_listener_that_the_runner_has_closed_takes_no_more() -> None:
    """A connection that nobody takes would wait, where it is to try again at the next runner."""
    server, listener = ForkServer(Confinement()), socket.create_server(("127.0.0.1", 0))
    pid = server.start(listener)
    address = listener.getsockname()
    listener.close()
    until = time.monotonic() + 5
    with pytest.raises(ConnectionRefusedError):
        while time.monotonic() < until:  # until it has begun
            with suppress(ConnectionResetError):  # closed in the very moment
                socket.create_connection(address).close()
    server.close()
    os.waitpid(pid, 0)


def test_nobody_forks_before_it_has_begun_or_after_its_end(server: ForkServer, tmp_path: Path) -> None:
    assert server.is_running
    server.close()
    assert not server.is_running
    with pytest.raises(OSError, match="the fork server is not running"):
        server.fork(Place(1, tmp_path), Pipes(1, 1, 1), relay=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "look" / "1.0.0.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


def test_each_call_has_a_process_and_a_folder_of_its_own_also_where_one_waited(runner: Runner, path: Path) -> None:
    replies = [runner.call(Call(path=str(path), props={"text": "x" * size})) for size in (1, 2, 100_000, 3)]
    values: list[Any] = [reply.value for reply in replies]
    assert [value[4] for value in values] == [1, 2, 100_000, 3]  # the third is larger than a waiting process is given
    assert len({value[0] for value in values}) == len({value[1] for value in values}) == 4
    assert all(value[2] == ["left"] for value in values)
    assert len({tuple(sorted(value[3])) for value in values}) == 1  # nothing else is open


@pytest.fixture
def forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    """Those of a runner whose processes wait for the end of their line."""

    def live(pipes: Any, home: Any) -> None:
        os.read(pipes.requests, 1)
        os._exit(0)

    monkeypatch.setattr(child, "run", live)
    process_tree.adopt_orphans()
    forks = Forks(Places(tmp_path, Confinement()), {})
    forks.start()
    yield forks
    forks.close()
    reap(forks)
    process_tree.adopt_orphans(yes=False)


def reap(forks: Forks) -> None:
    for pid, told in list(forks._by_pid.items()):
        with suppress(ChildProcessError):  # waited for already
            os.waitpid(pid, 0)
            told.finish(0)


def spare_of(forks: Forks) -> int:
    return list(forks._by_pid)[1]  # the first one forks


def reap_spare(forks: Forks) -> None:
    pid = spare_of(forks)
    os.waitpid(pid, 0)
    forks._by_pid.pop(pid).finish(0)


@pytest.mark.parametrize("end", [Forks._end_spare, lambda forks: os.kill(spare_of(forks), 9)])
def test_a_process_that_waited_for_nothing_leaves_nothing(
    forks: Forks, tmp_path: Path, end: Callable[[Forks], None]
) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    forks.keep_spare()
    forks.keep_spare()
    assert len(forks._by_pid) - 1 == len(list(tmp_path.iterdir())) == 1
    end(forks)
    reap_spare(forks)
    forks.maintain()
    assert set(Path("/proc/self/fd").iterdir()) == before and not list(tmp_path.iterdir())
    assert forks.next_at() is None


def test_a_process_waits_for_a_while(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    forks.keep_spare()
    forks.maintain()
    ends_at = forks.next_at()
    assert ends_at is not None and 0 < ends_at - time.monotonic() <= forking.IDLE_S
    with monkeypatch.context() as later:
        later.setattr(time, "monotonic", lambda: ends_at)
        forks.maintain()
    assert forks.next_at() is None
    reap_spare(forks)


def test_one_that_died_meanwhile_is_given_no_call(forks: Forks) -> None:
    forks.keep_spare()
    dead = spare_of(forks)
    os.kill(dead, 9)
    reap_spare(forks)
    another = forks.begin(b"{}", None, relay=False)
    assert another.pid != dead and os.waitpid(another.pid, 0)[1] == 0
    os.close(another.messages)
    os.close(another.prints)


@pytest.mark.parametrize("waiting", [0, 1])
def test_a_large_request_for_which_the_disk_has_no_room_leaves_nothing(
    forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(waiting):
        forks.keep_spare()

    def full(**_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    begun = forks.begin(b"x" * (forking.REQUEST_BYTES + 1), None, relay=False)
    assert os.waitpid(begun.pid, 0)[1] == signal.SIGKILL
    os.close(begun.messages)
    os.close(begun.prints)
    forks._places.leave(begun.place)
    for _ in range(waiting):
        reap_spare(forks)
    assert set(Path("/proc/self/fd").iterdir()) == before and not list(tmp_path.iterdir())


def test_where_there_is_no_place_no_pipe_is_left(forks: Forks, tmp_path: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    tmp_path.rmdir()
    with pytest.raises(FileNotFoundError):
        forks.begin(b"{}", None, relay=False)
    tmp_path.mkdir()
    assert set(Path("/proc/self/fd").iterdir()) == before


def test_where_nobody_forks_there_is_no_process_and_the_runner_ends(
    forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (server,) = forks._by_pid
    os.kill(server, 9)
    os.waitpid(server, 0)
    with pytest.raises(OSError, match=r"the fork server could not fork|Broken pipe|reset"):
        forks.begin(b"{}", None, relay=True)
    forks.keep_spare()
    assert not list(tmp_path.iterdir()) and forks.next_at() is None
    told = list[tuple[int, int]]()
    monkeypatch.setattr(os, "kill", lambda *signalled: told.append(signalled))
    forks._by_pid[server].finish(-9)
    forks._by_pid[server].finish(-9)
    assert told == [(os.getpid(), signal.SIGTERM)]
