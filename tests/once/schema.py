"""What the migrations make of an empty database, worked out once for all databases of a test run."""

import sqlite3
from functools import cache, partial
from threading import Lock

from sqlite_utils import Database

from webapp.store import sqlite
from webapp.store.migrations import SCHEMA
from webapp.store.postgres import schema
from webapp.store.sqlite import SQLiteStore

_migrate, _one_at_a_time = SQLiteStore.migrate, Lock()


def keep() -> None:
    """Begin to keep it, for as long as this process lasts."""
    setattr(SQLiteStore, "migrate", _migrate_once)  # noqa: B010  # for every store
    setattr(schema, "_changed", cache(partial(tuple, schema._changed())))  # noqa: B010  # a generator: read once


def _migrate_once(store: SQLiteStore) -> list[str]:
    """Copy the tables into an empty embedded database: dozens of migrations would make them one after another."""
    with _one_at_a_time:
        embedded = sqlite.SCHEMA  # type: ignore[attr-defined]  # some tests change it
        if embedded is SCHEMA and not store.all("SELECT 1 FROM sqlite_master LIMIT 1"):
            with store._turns.outside():
                _model(sqlite.SHRINKING).backup(store._writer.db.conn)
            return SCHEMA.names
    return _migrate(store)


@cache
def _model(pragma: str) -> sqlite3.Connection:
    """An empty database, made with ``pragma``, that all migrations were applied to."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA {pragma}")
    SCHEMA.apply(Database(connection))
    return connection
