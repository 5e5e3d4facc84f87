"""Connections to the embedded database, opened as it must be, and its exceptions turned into ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from webapp.errors import Conflict, Unavailable
from webapp.kit.text import holds
from webapp.store.contract import NOTHING, Params, Row

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "wal_autocheckpoint=0")


class Connection:
    """One connection as a :class:`webapp.store.contract.Tx`."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        cursor = self.db.execute(sql, dict(params))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        rows = self.all(sql, params)
        return rows[0] if rows else None

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, dict(params)).fetchall()

    def run(self, sql: str, params: Params = NOTHING) -> int:
        return self.db.execute(sql, dict(params)).rowcount


def connect(path: Path, timeout_s: float) -> Connection:
    """A connection to ``path`` that waits up to ``timeout_s`` seconds for a lock."""
    connection = sqlite3.connect(
        path, timeout=timeout_s, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    try:
        connection.create_function("holds", 2, holds, deterministic=True)
        db = Database(connection, recursive_triggers=False, execute_plugins=False)
        for pragma in PRAGMAS:
            db.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return Connection(db)


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's exceptions into ours."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise Conflict from error
    except sqlite3.OperationalError as error:
        if not _passes(error):
            raise
        raise Unavailable from error


_PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
)


def _passes(error: sqlite3.OperationalError) -> bool:
    """Whether ``error`` says that the database cannot answer now, rather than that our SQL is wrong."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in _PASSING
