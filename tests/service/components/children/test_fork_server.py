"""The process that forks: what comes of it is ours, lives where it was told, and has met nothing since."""

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components import child, limits
from webapp.service.components.children.fork_server import ForkServer
from webapp.service.components.children.settling import Pipes
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Place

MET = {"by now": "nothing"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    def live(pipes: Pipes, home: Any) -> None:
        told = [os.getppid() == home.runner, home.place.number, str(home.place.folder), home.relay, *MET.values()]
        os.write(pipes.messages, json.dumps(told).encode())
        os._exit(0)

    monkeypatch.setattr(child, "live", live)
    limits.adopt_orphans()
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
    limits.adopt_orphans(yes=False)


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
    with pytest.raises(OSError, match="nothing was forked"):
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
            socket.create_connection(address).close()
    server.close()
    os.waitpid(pid, 0)


def test_nobody_forks_before_it_has_begun_or_after_its_end(server: ForkServer, tmp_path: Path) -> None:
    assert server.is_begun
    server.close()
    assert not server.is_begun
    with pytest.raises(OSError, match="nobody forks"):
        server.fork(Place(1, tmp_path), Pipes(1, 1, 1), relay=False)
