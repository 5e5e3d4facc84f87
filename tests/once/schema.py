"""What the migrations make of an empty database, worked out once for all databases of a test run."""

import sqlite3
from contextlib import suppress
from functools import cache
from threading import Lock

import pytest
from sqlite_utils import Database

from webapp.store import sqlite
from webapp.store.migrations import SCHEMA
from webapp.store.postgres import schema
from webapp.store.sqlite import SQLiteStore

_migrate, _one_at_a_time = SQLiteStore.migrate, Lock()


def keep() -> None:
    """Begin to keep it, for as long as this process lasts."""
    setattr(SQLiteStore, "migrate", _migrate_once)  # noqa: B010  # for every store
    changed = schema._changed
    setattr(schema, "_changed", cache(lambda: tuple(changed())))  # noqa: B010


def migrate_anew(patch: pytest.MonkeyPatch) -> None:
    """Let the product migrate meanwhile, where that is what a test is about."""
    patch.setattr(SQLiteStore, "migrate", _migrate)


def _migrate_once(store: SQLiteStore) -> list[str]:
    """Copy the tables into an empty embedded database: dozens of migrations would make them one after another."""
    with _one_at_a_time:
        embedded = sqlite.SCHEMA  # type: ignore[attr-defined]  # some tests change it
        if embedded is SCHEMA and not store.all("SELECT 1 FROM sqlite_master LIMIT 1"):
            with suppress(sqlite3.OperationalError), store._turns.outside():
                _model(sqlite.SHRINKING).backup(store._writer.db.conn, progress=_at_once)
                return SCHEMA.names
    return _migrate(store)


def _at_once(status: int, remaining: int, total: int) -> None:
    """Give up where the database is locked, so that the product says what it says then."""
    if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise sqlite3.OperationalError("database is locked")


@cache
def _model(pragma: str) -> sqlite3.Connection:
    """An empty database, made with ``pragma``, that all migrations were applied to."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA {pragma}")
    SCHEMA.apply(Database(connection))
    return connection
