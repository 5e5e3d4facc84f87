"""Statements by libpq: what is used often is prepared, what was not used for longest is let go, values travel whole."""

from contextlib import closing

import psycopg
import pytest

from webapp.store.postgres import statements
from webapp.store.postgres.connections import connect
from webapp.store.postgres.statements import Statements

PREPARED = "SELECT statement FROM pg_prepared_statements WHERE name LIKE 'patchbay%'"


def test_only_so_many_stay_prepared(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MOST_STATEMENTS", 2)
    with closing(connect(url)) as connection:
        asked = Statements(connection, prepares=True)
        for number in (1, 2, 3):
            for _ in range(statements.PREPARED_AFTER):
                assert asked.rows(asked.execute(f"SELECT {number} + $1", [number])) == [(2 * number,)]
        kept = connection.execute(PREPARED).fetchall()
        assert sorted(kept) == [("SELECT 2 + $1",), ("SELECT 3 + $1",)]
        for number in range(10):
            asked.execute(f"SELECT {number}", [])
        assert len(asked._seen) <= 2 * 2 + 1


@pytest.mark.parametrize("prepares", [True, False])
def test_what_fails_is_told_and_leaves_it_fit_for_more(url: str, *, prepares: bool) -> None:
    with closing(connect(url)) as connection:
        asked = Statements(connection, prepares=prepares)
        for _ in range(3):
            with pytest.raises(psycopg.errors.DivisionByZero):
                asked.execute("SELECT 1 / $1::int", [0])
            with pytest.raises(psycopg.errors.UndefinedTable):
                asked.execute("SELECT * FROM nothing", [])
            assert asked.rows(asked.execute("SELECT $1, $2", ["a", None])) == [("a", None)]
        assert bool(connection.execute(PREPARED).fetchall()) is prepares


def test_a_server_that_is_gone_is_no_fault_of_the_statement(url: str) -> None:
    with closing(connect(url)) as connection:
        asked = Statements(connection, prepares=True)
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [connection.info.backend_pid])
        with pytest.raises(psycopg.OperationalError):
            asked.command("SELECT 1")
