"""SQLite's errors as ours."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Conflict, Damaged, Unavailable, Unwritable
from webapp.store.sqlite import connect, translated
from webapp.store.sqlite_errors import translation


def test_a_broken_rule_collides_and_wrong_sql_is_ours(tmp_path: Path) -> None:
    connection = connect(tmp_path / "t.db", 0.5)
    with closing(connection.db):
        connection.run("CREATE TABLE t (n INTEGER UNIQUE)")
        connection.run("INSERT INTO t (n) VALUES (1)")
        with pytest.raises(Conflict), translated():
            connection.run("INSERT INTO t (n) VALUES (1)")
        with pytest.raises(sqlite3.OperationalError), translated():
            connection.run("INSERT INTO absent (n) VALUES (1)")


def test_a_lock_passes_and_a_file_that_cannot_be_opened_does_not(tmp_path: Path) -> None:
    one, two = connect(tmp_path / "t.db", 0.1), connect(tmp_path / "t.db", 0.1)
    with closing(one.db), closing(two.db):
        one.run("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="busy") as busy, translated():
            two.run("BEGIN IMMEDIATE")
    assert not isinstance(busy.value, Unwritable)
    with pytest.raises(Unwritable, match="cannot be opened"), translated():
        connect(tmp_path / "absent" / "t.db", 0.1)


def test_a_read_only_database_says_so(tmp_path: Path) -> None:
    connect(tmp_path / "t.db", 0.1).db.close()
    with (
        closing(sqlite3.connect(f"file:{tmp_path}/t.db?mode=ro", uri=True)) as reading,
        pytest.raises(Unwritable, match="read-only"),
        translated(),
    ):
        reading.execute("CREATE TABLE t (n INTEGER)")


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        (sqlite3.SQLITE_FULL, Unwritable),
        (sqlite3.SQLITE_IOERR_WRITE, Unwritable),
        (sqlite3.SQLITE_CORRUPT, Damaged),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Unavailable),
    ],
)
def test_codes(code: int, ours: type[Unavailable]) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    assert type(translation(error)) is ours
    assert translation(ValueError()) is None
