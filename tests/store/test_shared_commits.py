"""Threads take turns and share commits; what fails is undone alone; nobody waits for ever, and not too many wait.

Transactions are kept open a moment for requests that are about to begin, and never without somebody who commits.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CountedSlot
from webapp.errors import Unavailable
from webapp.store import shared_commits
from webapp.store.shared_commits import Turns
from webapp.store.sqlite import is_busy, translation

ADD = "INSERT INTO t (n) VALUES (?)"


class Spied:
    """A connection that remembers what was executed, and fails where it is told to."""

    def __init__(self, path: Path) -> None:
        self.real = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.statements: list[str] = []
        self.fails: dict[str, sqlite3.Error] = {}

    def execute(self, sql: str, params: Any = ()) -> sqlite3.Cursor:
        self.statements.append(sql)
        if sql in self.fails:
            raise self.fails[sql]
        return self.real.execute(sql, params)

    @property
    def in_transaction(self) -> bool:
        return self.real.in_transaction


@pytest.fixture
def spied(tmp_path: Path) -> Iterator[Spied]:
    connection = Spied(tmp_path / "t.db")
    connection.execute("CREATE TABLE t (n INTEGER NOT NULL UNIQUE)")
    connection.statements.clear()
    with closing(connection.real):
        yield connection


@pytest.fixture
def shared(spied: Spied, monkeypatch: pytest.MonkeyPatch) -> Turns:
    """Those who wait share one commit, however slow the machine is."""
    monkeypatch.setattr(shared_commits, "GATHER_S", 60.0)
    return Turns(spied, translation, patience_s=5.0)


def numbers(spied: Spied) -> list[int]:
    """What is committed, as another connection sees it."""
    path = spied.real.execute("PRAGMA database_list").fetchone()[2]
    with closing(sqlite3.connect(path)) as other:
        return [n for (n,) in other.execute("SELECT n FROM t ORDER BY n")]


def together(shared: Turns, *blocks: Callable[[], None]) -> list[BaseException | None]:
    """Run ``blocks`` in one group: the first has its turn while the others queue up, in order; what each raised."""
    raised: list[BaseException | None] = [None] * len(blocks)
    inside, go_on = threading.Event(), threading.Event()

    def run(index: int, block: Callable[[], None]) -> None:
        try:
            with shared.block():
                if index == 0:
                    inside.set()
                    go_on.wait(5)
                block()
        except BaseException as error:
            raised[index] = error

    threads = [threading.Thread(target=run, args=given) for given in enumerate(blocks)]
    threads[0].start()
    inside.wait(5)
    for number, thread in enumerate(threads[1:], start=1):
        thread.start()
        ends = time.monotonic() + 5
        while len(shared._queue.waiters) < number and time.monotonic() < ends:
            time.sleep(0.001)
    shared._group.began_at = time.monotonic() if shared._group else 0.0  # type: ignore[union-attr]
    go_on.set()
    for thread in threads:
        thread.join(10)
    return raised


def adds(spied: Spied, n: int) -> Callable[[], None]:
    def add() -> None:
        spied.execute(ADD, (n,))

    return add


def fails() -> None:
    raise ValueError("no")


def test_those_who_wait_share_a_commit(spied: Spied, shared: Turns) -> None:
    assert together(shared, *(adds(spied, n) for n in range(8))) == [None] * 8
    assert numbers(spied) == list(range(8))
    assert spied.statements.count("COMMIT") == spied.statements.count("BEGIN IMMEDIATE") == 1
    with shared.block():
        spied.execute(ADD, (8,))
    assert spied.statements.count("COMMIT") == 2, "who is alone commits alone"


def test_a_block_that_raises_undoes_its_own_work_only(spied: Spied, shared: Turns) -> None:
    def half() -> None:
        spied.execute(ADD, (2,))
        fails()

    raised = together(shared, adds(spied, 1), half, adds(spied, 3), half)
    assert [type(error) for error in raised] == [type(None), ValueError, type(None), ValueError]
    assert numbers(spied) == [1, 3] and spied.statements.count("COMMIT") == 1


def test_nobody_is_told_of_success_before_the_commit(spied: Spied, shared: Turns) -> None:
    order: list[str] = []

    def look() -> None:
        time.sleep(0.05)
        order.append(f"the second sees {len(numbers(spied))} committed")

    def first() -> None:
        with shared.block():
            while not shared._queue.waiters:
                time.sleep(0.001)
            spied.execute(ADD, (1,))
        order.append("the first is told")

    one = threading.Thread(target=first)
    one.start()
    with shared.block():
        look()
    one.join(5)
    assert order == ["the second sees 0 committed", "the first is told"]


def test_a_commit_that_fails_fails_for_all(spied: Spied, shared: Turns) -> None:
    spied.fails["COMMIT"] = sqlite3.OperationalError("disk I/O error")
    raised = together(shared, adds(spied, 1), fails, adds(spied, 2))
    assert [type(error) for error in raised] == [Unavailable, ValueError, Unavailable]
    spied.fails.clear()
    with shared.block():
        spied.execute(ADD, (3,))
    assert numbers(spied) == [3]


def test_what_the_database_undid_by_itself_is_told_to_all(spied: Spied, shared: Turns) -> None:
    def lost() -> None:
        spied.real.execute("ROLLBACK")  # as SQLite does for a full disk
        raise sqlite3.OperationalError("database or disk is full")

    raised = together(shared, adds(spied, 1), lost, adds(spied, 2))
    assert [type(error) for error in raised] == [Unavailable, sqlite3.OperationalError, type(None)]
    assert numbers(spied) == [2]


def test_a_transaction_that_cannot_begin_leaves_the_turn_to_the_next(spied: Spied, shared: Turns) -> None:
    spied.fails["BEGIN IMMEDIATE"] = sqlite3.OperationalError("database is locked")
    with pytest.raises(sqlite3.OperationalError), shared.block():
        pytest.fail("it has not begun")
    spied.fails.clear()
    with shared.block():
        spied.execute(ADD, (1,))
    assert numbers(spied) == [1]


def test_a_group_is_committed_after_a_while_though_others_wait(
    spied: Spied, shared: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_commits, "GATHER_S", -1.0)
    assert together(shared, *(adds(spied, n) for n in range(3))) == [None] * 3
    assert spied.statements.count("COMMIT") == 3


def test_whoever_waits_too_long_is_refused_and_the_turn_continues(
    spied: Spied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_commits, "_LOOK_S", 0.01)
    shared = Turns(spied, translation, patience_s=0.1)
    refused: list[Exception] = []

    def wait() -> None:
        try:
            with shared.block():
                spied.execute(ADD, (2,))
        except Unavailable as error:
            refused.append(error)

    with shared.block():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(5)
        assert len(refused) == 1
    wait()
    assert numbers(spied) == [2] and len(refused) == 1


def test_only_so_many_wait_where_the_turn_does_not_come_round(
    spied: Spied, shared: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_commits, "MOST_WAITING", 3)
    monkeypatch.setattr(shared_commits, "STUCK_S", 0.2)
    monkeypatch.setattr(shared_commits, "_LOOK_S", 0.01)
    refused: list[int] = []

    def wait(n: int) -> None:
        try:
            with shared.block():
                spied.execute(ADD, (n,))
        except Unavailable:
            refused.append(n)

    with shared.block():
        threads = [threading.Thread(target=wait, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads[3:]:
            thread.join(2)
        assert len(refused) == 5
        began = time.monotonic()
        wait(8)
        assert 8 in refused and time.monotonic() - began < 0.1, "at once, while it is stuck"
    for thread in threads:
        thread.join(5)
    assert len(numbers(spied)) == 3 and len(refused) == 6


def test_transactions_begin_as_far_apart_as_asked(spied: Spied) -> None:
    pauses = [0.0, 0.3, 0.0]
    paced = Turns(spied, translation, patience_s=5.0, pause_s=lambda: pauses.pop(0))
    began = []
    for n in range(3):
        with paced.block():
            began.append(time.monotonic())
            spied.execute(ADD, (n,))
    assert began[1] - began[0] >= 0.29 and began[2] - began[1] < 0.25


def test_outside_a_transaction_nothing_of_others_is_open(spied: Spied, shared: Turns) -> None:
    with shared.outside():
        assert not spied.in_transaction
    with shared.block():
        spied.execute(ADD, (1,))
    assert numbers(spied) == [1]


def test_the_lock_is_taken_soon_after_another_process_left_it(tmp_path: Path) -> None:
    path, freed = tmp_path / "a.db", list[float]()
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = WAL").fetchall()
        other.execute("BEGIN IMMEDIATE")

        def free() -> None:
            other.execute("COMMIT")
            freed.append(time.monotonic())

        timer = threading.Timer(0.04, free)
        timer.start()
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as mine:
            with Turns(mine, translation, is_busy, patience_s=10).block():
                taken = time.monotonic()
            timer.join()
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(sqlite3.OperationalError), Turns(mine, translation, is_busy, patience_s=0.05).block():
                pass
    assert taken - freed[0] < 0.03, "SQLite itself would sleep for longer each time"


@pytest.fixture
def spied_waiting(tmp_path: Path) -> Iterator[Spied]:
    connection = Spied(tmp_path / "t.db")
    connection.real.execute("CREATE TABLE t (n INTEGER NOT NULL UNIQUE)")
    with closing(connection.real):
        yield connection


@pytest.fixture
def shared_waiting(spied_waiting: Spied) -> Turns:
    return Turns(spied_waiting, translation, patience_s=5.0)


def until(true: Callable[[], object]) -> None:
    ends = time.monotonic() + 5
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.001)


def test_who_comes_next_commits_for_those_before(
    spied_waiting: Spied, shared_waiting: Turns, slot: CountedSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot.has_queue = True
    monkeypatch.setattr(shared_commits, "KEPT_S", 5.0)

    def follow() -> None:
        until(lambda: slot.released)
        with shared_waiting.block():
            spied_waiting.execute(ADD, (2,))

    other = threading.Thread(target=follow)
    other.start()
    with shared_waiting.block():
        spied_waiting.execute(ADD, (1,))
    assert numbers(spied_waiting) == [1, 2], "nobody is told of success before the commit"
    other.join(5)
    assert spied_waiting.statements.count("COMMIT") == 1
    assert (slot.released, slot.reacquired) == (1, 0), "it was called by who committed"


def test_where_nobody_comes_the_first_commits(spied_waiting: Spied, shared_waiting: Turns, slot: CountedSlot) -> None:
    slot.has_queue = True
    for n in range(2):
        with shared_waiting.block():
            spied_waiting.execute(ADD, (n,))
    assert numbers(spied_waiting) == [0, 1] and spied_waiting.statements.count("COMMIT") == 2
    assert (slot.released, slot.reacquired) == (2, 0)


def test_a_commit_that_fails_after_a_while_fails_for_its_members(
    spied_waiting: Spied, shared_waiting: Turns, slot: CountedSlot
) -> None:
    slot.has_queue = True
    spied_waiting.fails["COMMIT"] = sqlite3.OperationalError("disk I/O error")
    with pytest.raises(Unavailable), shared_waiting.block():
        spied_waiting.execute(ADD, (1,))
    spied_waiting.fails.clear()
    with shared_waiting.block():
        spied_waiting.execute(ADD, (2,))
    assert numbers(spied_waiting) == [2] and slot.released == 2


def test_a_thread_that_waits_for_a_turn_releases_its_slot(
    spied_waiting: Spied, shared_waiting: Turns, slot: CountedSlot
) -> None:
    began, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with shared_waiting.block():
            began.set()
            ends.wait(5)

    other = threading.Thread(target=hold)
    other.start()
    began.wait(5)
    threading.Timer(0.01, ends.set).start()
    with shared_waiting.block():
        assert (slot.released, slot.reacquired) == (1, 0)
        spied_waiting.execute(ADD, (1,))
    other.join(5)
    assert numbers(spied_waiting) == [1]


def test_who_is_refused_a_turn_comes_back(
    spied_waiting: Spied, slot: CountedSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_commits, "_LOOK_S", 0.005)
    shared = Turns(spied_waiting, translation, patience_s=0.01)
    began, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with shared.outside():
            began.set()
            ends.wait(5)

    other = threading.Thread(target=hold)
    other.start()
    began.wait(5)
    with pytest.raises(Unavailable), shared.block():
        pytest.fail("it has no turn")
    ends.set()
    other.join(5)
    assert (slot.released, slot.reacquired) == (1, 1)
