"""A process in the runner's hands: lent, resting, and ended where it cannot be trusted to be clean.

An asker's connection gets a process, gives it back, or loses it with the connection.

Which process serves whom: one user's alone, kept for a while, with spares beside it and a queue behind it.
"""

import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from tests.service.components.pieces.conftest import Ask, asking
from webapp.service.components.calls import PieceBounds, Reply
from webapp.service.components.confinement import usage
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Place, Places
from webapp.service.components.pieces import frames, node_process
from webapp.service.components.pieces import process_pool as lease
from webapp.service.components.pieces import process_pool as module
from webapp.service.components.pieces.node_process import Package, Process
from webapp.service.components.pieces.process_pool import Bounds, Host, Lease, Pool, Waiting
from webapp.service.components.runner import Runner
from webapp.service.components.runner_connection import RunnerConnection
from webapp.service.components.runner_job import Jobs
from webapp.service.components.wire import encode, receive_descriptor

PID = "return process.pid"
COUNT = "globalThis.count = (globalThis.count ?? 0) + 1; return [process.pid, globalThis.count]"


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
    sleeper.check_usage()
    assert not sleeper.is_ending
    monkeypatch.setattr(usage, "room", lambda _: 2**40)
    sleeper.check_usage()
    monkeypatch.setattr(usage, "memory", lambda _: 2**40)
    sleeper.check_usage()
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
    sleeper.check_usage()
    assert sleeper.reason == "memory"


class FakeHost:
    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.pid, self.borrower = 42, None
        self.reasons: list[str] = []
        self.looks = 0

    def end(self, reason: str) -> None:
        self.reasons.append(reason)

    def check_usage(self) -> None:
        self.looks += 1


class FakePool:
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
        self.pool, self.host = FakePool(), FakeHost()
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
    scene.lease.check_usage()
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


def test_a_process_that_ended_is_reported(scene: Scene) -> None:
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
    scene.lease.check_usage()
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


def wait_until(holds: Callable[[], bool], seconds: float = 15.0) -> None:
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    assert holds()


def state_of(pid: int) -> str:
    """Its letter in /proc, empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return ""


@contextmanager
def asked(package: Path, monkeypatch: pytest.MonkeyPatch, bounds: PieceBounds) -> Iterator[tuple[Runner, Ask]]:
    with Runner.start() as runner:
        yield runner, asking(runner, package, monkeypatch, bounds)


def test_a_process_is_one_users_and_rests_between_calls(ask: Ask) -> None:
    first, again, other, nobodys, anybodys = (ask(COUNT, user=user).value for user in ("a", "a", "b", "", ""))
    assert (first[1], again[1], other[1], nobodys[1], anybodys[1]) == (1, 2, 1, 1, 1)
    assert again[0] == first[0] and len({first[0], other[0], nobodys[0], anybodys[0]}) == 4
    wait_until(lambda: state_of(other[0]) == "T")
    wait_until(lambda: state_of(nobodys[0]) == "")


def test_what_a_call_wrote_is_gone_with_it(ask: Ask) -> None:
    made = "require('fs').writeFileSync('left', 'x'); require('fs').mkdirSync('deep/er', { recursive: true });"
    pid, folder = ask(f"{made} return [process.pid, process.cwd()]", user="stays").value
    wait_until(lambda: state_of(pid) == "T" and list(Path(folder).iterdir()) == [])
    Path(folder, "late").touch()
    assert ask("return [process.pid, require('fs').readdirSync('.')]", user="stays").value == [pid, []]


def test_a_package_that_was_changed_is_loaded_anew(ask: Ask, package: Path) -> None:
    pid = ask(PID).value
    (package / "node_modules" / "a").mkdir(parents=True)
    (package / "node_modules" / "a" / "package.json").write_text("{}")
    assert ask(PID).value != pid


def test_a_spare_waits_loaded_and_is_taken_once(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with asked(package, monkeypatch, PieceBounds(4, 64, 30)) as (runner, ask):
        first = ask(PID, user="a").value
        wait_until(lambda: [state_of(pid) for pid in _children(runner)] == ["T", "T"])
        (spare,) = _children(runner) - {first}
        assert ask(PID, user="b").value == spare
        assert ask(PID, user="c").value not in (first, spare)


def test_waiting_takes_nothing_of_the_time_of_a_call(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with asked(package, monkeypatch, PieceBounds(1, 64, 30)) as (_, ask):
        assert ask("return 1", user="a").value == 1
        replies: list[Reply] = []
        code = "await new Promise((resolve) => setTimeout(resolve, 600)); return 1"
        first = threading.Thread(target=lambda: replies.append(ask(code, user="a")))
        first.start()
        time.sleep(0.05)
        assert ask(code, user="a", deadline_s=1.0).error is None
        first.join()


def test_processes_end_after_a_while_unused(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with asked(package, monkeypatch, PieceBounds(1, 64, 0.2)) as (_, ask):
        pid = ask(PID, user="a").value
        assert state_of(pid)
        wait_until(lambda: state_of(pid) == "")


@pytest.mark.faults
def test_more_calls_than_processes_wait_for_their_turn(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = "await new Promise((resolve) => setTimeout(resolve, 20)); return [process.pid, globalThis.mine ??= %r]"
    with asked(package, monkeypatch, PieceBounds(2, 64, 30)) as (runner, ask):
        replies: list[tuple[str, Reply]] = []

        def call(user: str) -> None:
            replies.append((user, ask(work % user, user=user, deadline_s=20)))

        threads = [threading.Thread(target=call, args=(f"u{number % 4}",)) for number in range(12)]
        for thread in threads:
            thread.start()
        most = 0
        while any(thread.is_alive() for thread in threads):
            most = max(most, len(_children(runner)))
            time.sleep(0.01)
        assert [reply.error for _, reply in replies] == [None] * 12
        assert all(reply.value[1] == user for user, reply in replies)
        owners = Counter(pid for pid, _ in {(reply.value[0], user) for user, reply in replies})
        assert set(owners.values()) == {1} and most <= 2


@pytest.mark.faults
@pytest.mark.alone
def test_pieces_do_not_hold_up_other_components(ask: Ask, node_runner: Runner) -> None:
    assert ask(PID, user="busy").ok  # there is a runner
    began = time.monotonic()
    hang = threading.Thread(target=ask, args=("for (;;) {}", "busy", 1.0))
    hang.start()
    assert node_runner.confinement()
    assert time.monotonic() - began < 1
    hang.join()


def test_what_cannot_be_started_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError

    class Connection:
        outbox = bytearray()

        def hand_over(self, data: object) -> None: ...

        def push(self) -> bool:
            return True

    monkeypatch.setattr(node_process, "start", fail)
    jobs = Jobs(Places(tmp_path, Confinement()))
    pool = Pool(jobs)
    head = {
        "deadline_s": 1,
        "piece": {
            "folder": "f",
            "package": "p",
            "user": "u",
            "node": {"path": "node", "libraries": [], "base_mb": 1},
            "program": "p",
            "stamp": 0,
        },
        "bounds": {"processes": 2, "memory_mb": 64, "idle_s": 1},
    }
    connection = Connection()
    pool.lease(connection, head)  # type: ignore[arg-type]
    assert b'"end":"crash"' in connection.outbox and pool.waiting == 0
    monkeypatch.setattr(module, "MOST_WAITING", 0)
    pool.lease(connection, head)  # type: ignore[arg-type]
    assert b'"end":"busy"' in connection.outbox


@pytest.mark.parametrize(("processes", "spares"), [(1, 0), (2, 1), (8, 2), (64, 16)])
def test_spares_are_a_quarter(processes: int, spares: int) -> None:
    assert Bounds(processes).spares == spares


def _children(runner: Runner) -> set[int]:
    """Those that are for pieces: the first child of a runner is the one that forks for other components."""
    if runner._process is None:
        return set()
    pid = runner._process.pid
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[1:]}
