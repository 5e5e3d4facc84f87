"""Which process serves whom: one user's alone, kept for a while, with spares beside it and a queue behind it."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.service.components.pieces.conftest import Ask, asking
from webapp.service.components.calls import PieceBounds, Reply
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Places
from webapp.service.components.pieces import host_process, lease
from webapp.service.components.pieces.hosts import Bounds, Pool
from webapp.service.components.runner import Runner
from webapp.service.components.runner_job import Jobs

PID = "return process.pid"
COUNT = "globalThis.count = (globalThis.count ?? 0) + 1; return [process.pid, globalThis.count]"


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

    monkeypatch.setattr(host_process, "start", fail)
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
    monkeypatch.setattr(lease, "MOST_WAITING", 0)
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
