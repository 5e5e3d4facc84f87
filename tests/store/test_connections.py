"""Connections are opened as promised; the database's exceptions become ours, and bugs stay bugs."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Conflict, Unavailable
from webapp.store.connections import connect, translated


def test_a_connection_is_open_as_promised(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "t.db", 0.5).db) as db:
        names = ("journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "busy_timeout")
        assert [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == ["wal", 2, 1, 0, 500]


def test_rows_and_counts(tmp_path: Path) -> None:
    connection = connect(tmp_path / "t.db", 0.5)
    with closing(connection.db):
        connection.run("CREATE TABLE t (n INTEGER UNIQUE)")
        assert connection.run("INSERT INTO t (n) VALUES (:n)", {"n": 1}) == 1
        assert connection.all("SELECT n FROM t") == [{"n": 1}] == [connection.one("SELECT n FROM t")]
        assert connection.tuples("SELECT n FROM t") == [(1,)]
        assert connection.one("SELECT n FROM t WHERE n = 2") is None
        with pytest.raises(Conflict), translated():
            connection.run("INSERT INTO t (n) VALUES (1)")
        with pytest.raises(sqlite3.OperationalError), translated():
            connection.run("INSERT INTO absent (n) VALUES (1)")


def test_a_lock_and_a_file_that_cannot_be_opened_pass(tmp_path: Path) -> None:
    one, two = connect(tmp_path / "t.db", 0.1), connect(tmp_path / "t.db", 0.1)
    with closing(one.db), closing(two.db):
        one.run("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable), translated():
            two.run("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable), translated():
        connect(tmp_path, 0.1)
