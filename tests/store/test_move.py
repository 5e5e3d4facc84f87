"""A move brings every row over, continues where it was interrupted, and says so where the two stores differ.

It begins only in an empty database. Pages follow the primary key, however many columns it has; equal rows have equal
checksums.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.once import postgres as databases
from tests.store import lists
from webapp.errors import Conflict
from webapp.kit.clock import now
from webapp.kit.crypto import ordered_id_at
from webapp.store import move
from webapp.store.contract import Store
from webapp.store.months import name_of, number_at, start_of
from webapp.store.move import NOT_MOVED, Progress, Shape, checksum, shapes
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore

ROWS = 25
KEYS = "SELECT id FROM {} ORDER BY id"
NewStore = Callable[[], Store]
NUMBERS = Shape("numbers", ("name", "n", "box"), ("name", "n"), refers_to_itself=False)
NUMBER_ROWS = [(name, n, None if n else b"\0x") for name in ("B", "a", "ü") for n in (0, 1, 1 << 40)]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches for a few rows, each with its line."""
    monkeypatch.setattr(move, "PAGE", 10)
    monkeypatch.setattr(move, "LINE_EVERY", 10)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an embedded database with rows of every kind of value, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "source.db"
    with closing(lists.filled(path, ROWS)):
        fill(path)
    return path


@pytest.fixture
def source(filled: Path, tmp_path: Path) -> Iterator[SQLiteStore]:
    """A database of its own that is filled so."""
    with closing(SQLiteStore(Path(shutil.copy(filled, tmp_path)))) as store:
        yield store


def fill(path: Path, events: int = 12) -> None:
    """Add ``events``, and clients that refer to one whose id comes later."""
    with closing(sqlite3.connect(path)) as connection:
        lists.insert(
            connection,
            "events",
            (
                {"id": f"ev_{number:09}", "project_id": "proj_1", "trigger_id": None, "size": number}
                for number in range(events)
            ),
        )
        connection.execute("UPDATE runs SET component_key = 'tab\t, a \\x00, ü, 🙂, \\. and a NUL: ' || char(0)")
        lists.insert(connection, "provider_clients", [{"id": "oa_9", "project_id": "proj_1"}])
        shared = [{"id": f"oa_{number}", "project_id": "proj_1", "shares": "oa_9"} for number in range(3)]
        lists.insert(connection, "provider_clients", shared)
        lists.insert(connection, "counters", [{"id": "", "name": "generations", "n": 7}])
        connection.commit()


@pytest.fixture(params=["sqlite", "postgres"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> Iterator[NewStore]:
    """Opens the same empty, migrated database each time it is called."""
    path, name = tmp_path / "target.db", databases.new() if request.param == "postgres" else ""
    shutil.copy(migrated, path)
    with ExitStack() as opened:

        def connect() -> Store:
            store = PostgresStore(databases.url(name), connections=4) if name else SQLiteStore(path)
            opened.callback(store.close)
            return store

        yield connect
    if name:
        databases.drop(name)


class Interrupted(Exception):
    """The process died."""


def silent(_: str) -> None:
    """Nobody reads the lines."""


def interrupting(start: str) -> Callable[[str], None]:
    def say(line: str) -> None:
        if line.startswith(start):
            raise Interrupted

    return say


def test_everything_arrives_though_it_is_interrupted_between_and_within_batches(
    source: SQLiteStore, new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Interrupted):
        move.move(source, new_store(), interrupting("accounts: 20 of"))
    advance = move.advance

    def dying(tx: Any, reached: move.Progress, *args: Any, **options: Any) -> move.Progress:
        changed = advance(tx, reached, *args, **options)
        if reached.name == "runs" and reached.copied == 10:
            raise Interrupted
        return changed

    monkeypatch.setattr(move, "advance", dying)
    with pytest.raises(Interrupted):
        move.move(source, new_store(), silent)
    monkeypatch.setattr(move, "advance", advance)
    with pytest.raises(Conflict, match="is not finished"):
        move.refuse_unfinished(new_store())
    assert len(new_store().tuples(KEYS.format("runs"))) == 10
    lines: list[str] = []
    sums = move.move(source, new_store(), lines.append)
    assert f"runs: 10 of {ROWS + 15} are there already" in lines and f"runs: 20 of {ROWS + 15}" in lines
    assert not any(line.startswith("accounts: 10 of") for line in lines)
    target = new_store()
    move.refuse_unfinished(target)
    assert sums == {shape.name: checksum(target, shape) for shape in shapes()}
    assert (sums["accounts"].rows, sums["provider_clients"].rows, sums["events"].rows) == (
        ROWS + 15,
        ROWS + 15 + 4,
        ROWS + 15 + 12,
    )
    assert target.tuples(KEYS.format("accounts")) == source.tuples(KEYS.format("accounts"))
    assert move.total(sums).rows == sum(count for count, _ in sums.values())


def test_it_comes_back_as_it_went(source: SQLiteStore, tmp_path: Path) -> None:
    """And what is kept by months comes into its month."""
    last_month = start_of(number_at(now()) - 1)
    with source.write() as tx:
        tx.run("UPDATE events SET at = :at", {"at": last_month})
        tx.run("UPDATE events SET id = :id WHERE size = 0", {"id": ordered_id_at("evt", last_month)})
    name = databases.new()
    server, back = PostgresStore(databases.url(name), connections=4), SQLiteStore(tmp_path / "back.db")
    try:
        back.migrate()
        assert move.move(source, server, silent) == move.move(server, back, silent)
        places = server.tuples("SELECT DISTINCT tableoid::regclass::text FROM events ORDER BY 1")
        assert places == [(f"events_{name_of(number_at(last_month))}",), ("events_default",)]
        ((text,),) = back.tuples("SELECT component_key FROM runs LIMIT 1")
        assert text == "tab\t, a \\x00, ü, 🙂, \\. and a NUL: \ufffd"
        assert back.faults() == [] and back.tuples("PRAGMA foreign_key_check") == []
    finally:
        server.close()
        back.close()
        databases.drop(name)


def test_a_source_that_was_used_meanwhile_is_refused(source: SQLiteStore, new_store: NewStore) -> None:
    with pytest.raises(Interrupted):
        move.move(source, new_store(), interrupting("accounts: 20 of"))
    with source.write() as tx:
        tx.run("UPDATE counters SET n = 8 WHERE name = 'generations'")
    with pytest.raises(Conflict, match="was in use since"):
        move.move(source, new_store(), silent)


def test_what_did_not_arrive_as_it_was_is_said_and_not_served(source: SQLiteStore, new_store: NewStore) -> None:
    target: Store = new_store()

    def meddle(line: str) -> None:
        if "compared" in line:
            with target.write() as tx:
                tx.run("DELETE FROM runs WHERE id = 'other_3'")

    with pytest.raises(Conflict, match=rf"runs did not arrive .*{ROWS + 15} rows there, {ROWS + 14} here"):
        move.move(source, target, meddle)
    with pytest.raises(Conflict, match="is not finished"):
        move.refuse_unfinished(target)


def test_a_new_database_is_marked_and_what_migrating_left_there_is_cleared(new_store: NewStore) -> None:
    store = new_store()
    with store.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES ('generations', 3)")
    move.begin(store, "here")
    assert store.tuples("SELECT * FROM counters") == []
    move.begin(store, "here")
    with pytest.raises(Conflict, match="began at another source"):
        move.begin(store, "elsewhere")


def test_a_database_that_holds_something_is_left_alone(new_store: NewStore) -> None:
    store = new_store()
    with store.write() as tx:
        tx.run("INSERT INTO page_changes (name, n, at) VALUES ('look', 1, 1)")
    with pytest.raises(Conflict, match="There is an installation"):
        move.begin(store, "here")
    move.refuse_unfinished(store)


def test_what_a_table_has_reached(new_store: NewStore) -> None:
    store = new_store()
    reached = move.progress_of(store, "runs")
    assert reached == Progress("runs")
    with store.write() as tx:
        reached = move.advance(tx, reached, ("a", 1), 2, ended=False)
        reached = move.advance(tx, reached, None, 0, ended=True)
    assert move.progress_of(store, "runs") == reached == Progress("runs", ("a", 1), 2, ended=True)
    move.finish(store)
    assert move.progress_of(store, "runs") == Progress("runs")


@pytest.fixture
def numbers(new_store: NewStore) -> NewStore:
    with new_store().write() as tx:
        tx.run("CREATE TABLE numbers (name TEXT, n BIGINT, box BLOB)".replace("BLOB", _blob(new_store)))
        tx.load("numbers", NUMBERS.columns, reversed(NUMBER_ROWS))
    return new_store


def _blob(new_store: NewStore) -> str:
    return "BLOB" if new_store().folder else "BYTEA"


def test_pages_follow_each_other(numbers: NewStore) -> None:
    reader, rows = numbers(), list[tuple[object, ...]]()
    after: tuple[object, ...] = ()
    while page := move.page(reader, NUMBERS, after, 2):
        rows += page
        after = move.key_of(NUMBERS, page[-1])
    assert sorted(map(repr, rows)) == sorted(map(repr, NUMBER_ROWS)) and len(rows) == len(NUMBER_ROWS)


def test_the_sum_counts_and_changes_with_any_value(numbers: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = numbers()
    whole = move.checksum(reader, NUMBERS)
    monkeypatch.setattr(move, "PAGE", 2)
    assert move.checksum(reader, NUMBERS) == whole and whole.rows == len(NUMBER_ROWS)
    with reader.write() as tx:
        tx.run("UPDATE numbers SET n = 2 WHERE name = 'B' AND n = 1")
    assert move.checksum(reader, NUMBERS).sha256 != whole.sha256


def test_every_table_is_there_with_its_columns_and_a_key(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "patchbay.db")) as store:
        store.migrate()
        names = {
            name
            for (name,) in store.tuples("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith(("sqlite_", "_sqlite_"))
        }
        columns = {
            name: {column for _, column, *_ in store.tuples(f"PRAGMA table_info({name})")} for name in names - NOT_MOVED
        }
    assert {shape.name: set(shape.columns) for shape in shapes()} == columns
    assert all(set(shape.key) <= set(shape.columns) and shape.key for shape in shapes())


def test_a_table_comes_after_those_that_it_refers_to() -> None:
    order = [shape.name for shape in shapes()]
    for before, after in [("projects", "accounts"), ("events", "deliveries"), ("deliveries", "delivery_attempts")]:
        assert order.index(before) < order.index(after)
    assert [shape.name for shape in shapes() if shape.refers_to_itself] == ["provider_clients"]
    assert next(shape.key for shape in shapes() if shape.name == "delivery_attempts") == ("delivery_id", "n")
