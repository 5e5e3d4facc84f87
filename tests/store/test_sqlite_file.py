"""A file of SQLite is opened with our pragmas and our function; what is no database is closed again."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from webapp.store.sqlite_file import open_database


def test_it_has_our_pragmas_and_what_is_said_first(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "a.db", 1, "auto_vacuum=2")) as db:
        names = ("auto_vacuum", "journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "secure_delete")
        assert [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == [2, "wal", 2, 1, 0, 1]
        assert db.execute("SELECT holds('ÄRGER', 'arg')").fetchone() == (1,)


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database" * 500)
    with pytest.raises(sqlite3.DatabaseError):
        open_database(tmp_path / "a.db", 1)
