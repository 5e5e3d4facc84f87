"""Whole copies of the database: for their owner alone, and never over a file; what is damaged or newer is refused."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Invalid
from webapp.store import copies
from webapp.store.sqlite import SQLiteStore


def test_a_copy_is_whole_and_its_owners(store: SQLiteStore, data: Path) -> None:
    target = data / "copy.db"
    copies.copy(data / "patchbay.db", target)
    copies.inspect(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        copies.copy(data / "patchbay.db", target)


def test_what_is_no_database_of_ours_is_refused(data: Path) -> None:
    (data / "text.db").write_text("this is text and no database at all")
    with pytest.raises(Invalid, match="damaged"):
        copies.inspect(data / "text.db")
    with closing(sqlite3.connect(data / "other.db")) as other:
        other.execute("CREATE TABLE things (id TEXT)")
    with pytest.raises(Invalid, match="holds no database of Patchbay"):
        copies.inspect(data / "other.db")


def test_a_newer_schema_is_refused(store: SQLiteStore, data: Path) -> None:
    target = data / "copy.db"
    copies.copy(data / "patchbay.db", target)
    with closing(sqlite3.connect(target)) as newer:
        newer.execute("UPDATE _sqlite_migrations SET name = 'm999_tomorrow' WHERE name = 'm001_foundation'")
        newer.commit()
    with pytest.raises(Invalid, match="newer version"):
        copies.inspect(target)
