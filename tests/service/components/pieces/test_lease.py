"""An asker's connection gets a process, gives it back, or loses it with the connection."""

import selectors
import socket
import time
from collections.abc import Iterator
from typing import Any, cast

import orjson
import pytest

from webapp.service.components.pieces import lease
from webapp.service.components.pieces.host_process import Package
from webapp.service.components.pieces.lease import Lease, Waiting
from webapp.service.components.runner_connection import RunnerConnection
from webapp.service.components.wire import encode, receive_descriptor


class Host:
    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.pid, self.borrower = 42, None
        self.reasons: list[str] = []
        self.looks = 0

    def end(self, reason: str) -> None:
        self.reasons.append(reason)

    def look_at_use(self) -> None:
        self.looks += 1


class Pool:
    def __init__(self) -> None:
        self.open: set[Lease] = set()
        self.given_up: list[Lease] = []
        self.back: list[Any] = []

    def take_back(self, host: Any) -> None:
        self.back.append(host)

    def give_up(self, lease: Lease) -> None:
        self.given_up.append(lease)

    def forget(self, lease: Lease) -> bool:
        known = lease in self.open
        self.open.discard(lease)
        return known


class Scene:
    def __init__(self) -> None:
        near, self.asker = socket.socketpair()
        self.asker.settimeout(2)
        self.pool, self.host = Pool(), Host()
        self.selector = selectors.DefaultSelector()
        connection = RunnerConnection(self.selector, near, lambda: None)
        self.lease = Lease(self.pool, connection, Package("f", "p", "node"), "alice", 5)  # type: ignore[arg-type]
        connection.hand_over(self.lease.receive)
        self.pool.open.add(self.lease)

    def give(self) -> None:
        self.lease.give(self.host)  # type: ignore[arg-type]


@pytest.fixture
def scene() -> Iterator[Scene]:
    each = Scene()
    yield each
    each.lease.close()
    each.selector.close()
    for sock in (each.asker, each.host.near, each.host.far):
        sock.close()


def test_it_gets_the_process_as_a_descriptor_and_gives_it_back(scene: Scene) -> None:
    scene.give()
    content, descriptor = receive_descriptor(scene.asker.fileno(), 999)
    assert orjson.loads(content[4:]) == {"host": 42} and descriptor is not None
    with socket.socket(fileno=descriptor) as host:
        host.sendall(b"x")
    assert scene.host.far.recv(1) == b"x"
    scene.lease.look_at_use()
    scene.lease.receive()  # nothing came
    scene.asker.sendall(encode({"done": True}))
    scene.lease.receive()
    assert (scene.pool.back, scene.host.reasons, scene.host.looks) == ([scene.host], [], 1)
    assert scene.pool.open == set() and scene.asker.recv(1) == b""


@pytest.mark.parametrize("manner", ["hangs up", "says nonsense", "says no object"])
def test_who_goes_without_a_word_ends_the_process(scene: Scene, manner: str) -> None:
    scene.give()
    scene.asker.recv(999)
    if manner == "hangs up":
        scene.asker.close()
    else:
        scene.asker.sendall(b"\xff\xff\xff\xff" if manner == "says nonsense" else encode([]))
    scene.lease.receive()
    assert (scene.host.reasons, scene.pool.back, scene.pool.open) == (["gone"], [], set())
    scene.lease.close()  # again does nothing


def test_a_process_that_ended_is_told(scene: Scene) -> None:
    scene.give()
    scene.asker.recv(999)
    scene.lease.host_ended("memory", -9)
    assert orjson.loads(scene.asker.recv(999)[4:]) == {"end": "memory", "code": -9}
    assert scene.lease.ends_at > time.monotonic() + 5
    scene.lease.end_late()
    assert scene.pool.open == set() and scene.host.reasons == []


def test_at_its_deadline_the_process_ends(scene: Scene) -> None:
    scene.give()
    scene.lease.end_late()
    assert scene.host.reasons == ["timeout"] and scene.pool.open == {scene.lease}


def test_its_time_begins_with_the_process(scene: Scene) -> None:
    scene.lease.ends_at = 0.0
    scene.give()
    assert scene.lease.ends_at > time.monotonic() + 4


def test_who_waits_too_long_is_told_so_and_waits_no_more(scene: Scene) -> None:
    scene.lease.end_late()
    assert orjson.loads(scene.asker.recv(999)[4:]) == {"end": "busy", "code": 0}
    assert (scene.pool.given_up, scene.pool.open) == ([scene.lease], {scene.lease})
    scene.lease.end_late()
    assert scene.pool.open == set()


def test_a_refusal_has_a_reason(scene: Scene) -> None:
    scene.lease.look_at_use()
    scene.lease.refuse("busy")
    assert orjson.loads(scene.asker.recv(999)[4:]) == {"end": "busy", "code": 0}


def test_who_is_gone_already_gets_nothing(scene: Scene) -> None:
    scene.asker.close()
    scene.give()
    assert scene.host.reasons == ["gone"] and scene.pool.open == set()


class Waits:
    def __init__(self, user: str, lent_at: float = 0.0) -> None:
        self.user, self.lent_at = user, lent_at


def test_one_user_with_many_calls_holds_up_no_other() -> None:
    waiting = Waiting()
    hosts: Any = [Waits("a", 5.0), Waits("b", 3.0), Waits("a", 1.0)]
    leases: list[Any] = [Waits(user) for user in ("a", "a", "b", "c", "c")]
    assert all(waiting.join(each) for each in leases)
    assert [each.user for each in waiting.in_turn(hosts)] == ["c", "c", "b", "a", "a"]
    waiting.leave(leases[3])
    waiting.leave(leases[3])
    assert (len(waiting), waiting.in_turn([])) == (4, [*leases[:3], leases[4]])


def test_only_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "MOST_WAITING", 1)
    waiting, leases = Waiting(), [cast("Lease", Waits(user)) for user in "ab"]
    assert list(map(waiting.join, leases)) == [True, False]
