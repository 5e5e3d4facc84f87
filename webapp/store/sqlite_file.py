"""Opening a file of SQLite as every connection of ours has it."""

import sqlite3
from pathlib import Path

from sqlite_utils import Database

from webapp.kit.text import holds

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "wal_autocheckpoint=0", "secure_delete=ON")


def open_database(path: Path, timeout_s: float, *first: str) -> Database:
    """Open ``path``, to wait up to ``timeout_s`` seconds for a lock; ``first`` are pragmas before ours."""
    connection = sqlite3.connect(
        path, timeout=timeout_s, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    try:
        connection.create_function("holds", 2, holds, deterministic=True)
        db = Database(connection, recursive_triggers=False, execute_plugins=False)
        for pragma in (*first, *PRAGMAS):
            db.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return db
