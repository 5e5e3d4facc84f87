"""A small installation in each table that matters, and empty databases of both kinds to move it to."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.once import postgres as databases
from tests.store import lists
from webapp.store.contract import Store
from webapp.store.moving import move
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore

ROWS = 25
NewStore = Callable[[], Store]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches for a few rows, each with its line."""
    monkeypatch.setattr(move, "PAGE", 10)
    monkeypatch.setattr(move, "LINE_EVERY", 10)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[SQLiteStore]:
    """An embedded database with rows of every kind of value."""
    path = tmp_path / "source.db"
    with closing(lists.filled(path, ROWS)) as store:
        fill(path)
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
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    """Opens the same empty, migrated database each time it is called."""
    path, name = tmp_path / "target.db", databases.new() if request.param == "postgres" else ""
    with ExitStack() as opened:

        def connect() -> Store:
            store = PostgresStore(databases.url(name), connections=4) if name else SQLiteStore(path)
            opened.callback(store.close)
            store.migrate()
            return store

        yield connect
    if name:
        databases.drop(name)
