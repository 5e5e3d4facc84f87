"""Whole copies of the embedded database: made while it is in use, and looked at before they take its place."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database

from webapp.errors import Invalid, Unavailable
from webapp.store.contract import WrongSchema
from webapp.store.migrations import SCHEMA

BUSY_TIMEOUT_S = 30.0


def copy(database: Path, target: Path) -> None:
    """Write ``database`` as it stands at one moment to ``target``, for its owner alone; others read and write on.

    ``VACUUM INTO`` leaves behind what was deleted, such as the keys of before a rotation. Raises
    :class:`Unavailable`, ``FileExistsError``.
    """
    target.touch(mode=0o600, exist_ok=False)
    with _opened(database, "rw") as connection:
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.OperationalError as error:
            raise Unavailable(f"The database could not be copied ({error}); make room on the disk.") from error


def inspect(database: Path) -> None:
    """Raise :class:`Invalid` unless ``database`` is whole and its schema one that this version knows."""
    try:
        with _opened(database, "ro") as connection:
            verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            db = Database(connection, execute_plugins=False)
            applied = SCHEMA.applied(db)
            if verdict == "ok":
                SCHEMA.check(db)
    except WrongSchema as error:
        raise Invalid(f"The backup cannot be used. {error.message}") from error
    except sqlite3.DatabaseError as error:
        raise Invalid("The backup is damaged: its database cannot be read. Use another backup.") from error
    if verdict != "ok":
        raise Invalid("The backup is damaged: its database is not consistent. Use another backup.")
    if not applied:
        raise Invalid("The backup holds no database of Patchbay. Use another file.")


@contextmanager
def _opened(database: Path, mode: str) -> Iterator[sqlite3.Connection]:
    uri = f"{database.absolute().as_uri()}?mode={mode}"
    with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
        yield connection
