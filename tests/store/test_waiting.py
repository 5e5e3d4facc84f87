"""Transactions are kept open a moment for requests that are about to begin, and never without somebody who commits."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import CountedPlace
from tests.store.test_turns import ADD, Spied, numbers
from webapp.errors import Unavailable
from webapp.store import waiting
from webapp.store.sqlite import translation
from webapp.store.turns import Turns


@pytest.fixture
def spied(tmp_path: Path) -> Iterator[Spied]:
    connection = Spied(tmp_path / "t.db")
    connection.real.execute("CREATE TABLE t (n INTEGER NOT NULL UNIQUE)")
    with closing(connection.real):
        yield connection


@pytest.fixture
def shared(spied: Spied) -> Turns:
    return Turns(spied, translation, patience_s=5.0)


def until(true: Callable[[], object]) -> None:
    ends = time.monotonic() + 5
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.001)


def test_who_comes_next_commits_for_those_before(
    spied: Spied, shared: Turns, place: CountedPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.is_crowded = True
    monkeypatch.setattr(waiting, "KEPT_S", 5.0)

    def follow() -> None:
        until(lambda: place.left)
        with shared.block():
            spied.execute(ADD, (2,))

    other = threading.Thread(target=follow)
    other.start()
    with shared.block():
        spied.execute(ADD, (1,))
    assert numbers(spied) == [1, 2], "nobody is told of success before the commit"
    other.join(5)
    assert spied.statements.count("COMMIT") == 1
    assert (place.left, place.back) == (1, 0), "it was called by who committed"


def test_where_nobody_comes_the_first_commits(spied: Spied, shared: Turns, place: CountedPlace) -> None:
    place.is_crowded = True
    for n in range(2):
        with shared.block():
            spied.execute(ADD, (n,))
    assert numbers(spied) == [0, 1] and spied.statements.count("COMMIT") == 2
    assert (place.left, place.back) == (2, 0)


def test_a_commit_that_fails_after_a_while_fails_for_its_members(
    spied: Spied, shared: Turns, place: CountedPlace
) -> None:
    place.is_crowded = True
    spied.fails["COMMIT"] = sqlite3.OperationalError("disk I/O error")
    with pytest.raises(Unavailable), shared.block():
        spied.execute(ADD, (1,))
    spied.fails.clear()
    with shared.block():
        spied.execute(ADD, (2,))
    assert numbers(spied) == [2] and place.left == 2


def test_who_waits_for_a_turn_leaves_the_place(spied: Spied, shared: Turns, place: CountedPlace) -> None:
    began, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with shared.block():
            began.set()
            ends.wait(5)

    other = threading.Thread(target=hold)
    other.start()
    began.wait(5)
    threading.Timer(0.01, ends.set).start()
    with shared.block():
        assert (place.left, place.back) == (1, 0)
        spied.execute(ADD, (1,))
    other.join(5)
    assert numbers(spied) == [1]


def test_who_is_refused_a_turn_comes_back(spied: Spied, place: CountedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_LOOK_S", 0.005)
    shared = Turns(spied, translation, patience_s=0.01)
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
    assert (place.left, place.back) == (1, 1)
