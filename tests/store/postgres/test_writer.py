"""Writers come one after another; one that is cut off, or falls silent, is undone, and the next one writes."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from tests.store.postgres.test_connections import ADD, cut, names
from webapp.errors import Unavailable
from webapp.store.contract import Tx
from webapp.store.postgres import writer
from webapp.store.postgres.connections import Session
from webapp.store.postgres.store import PostgresStore


def test_a_write_that_is_cut_off_is_undone_and_says_so(postgres: PostgresStore, url: str) -> None:
    def interrupted(tx: Tx) -> None:
        tx.run(ADD, {"name": "before"})
        cut(url)
        tx.run(ADD, {"name": "after"})

    with pytest.raises(Unavailable), postgres.write() as tx:
        interrupted(tx)
    with pytest.raises(Unavailable), postgres.write() as tx:
        tx.run(ADD, {"name": "uncommitted"})
        cut(url)
    assert names(postgres) == []
    with postgres.write() as tx:
        tx.run(ADD, {"name": "next"})
    assert names(postgres) == ["next"]


def test_whoever_waits_too_long_for_the_lock_is_refused(postgres: PostgresStore, url: str) -> None:
    other = PostgresStore(url, connections=2, patience_s=0.1)
    with postgres.write() as tx:
        tx.run(ADD, {"name": "a"})
        with pytest.raises(Unavailable), other.write():
            pytest.fail("two wrote at once")
        assert other.tuples("SELECT * FROM counters") == []
    with other.write() as tx:
        tx.run(ADD, {"name": "b"})
    other.close()
    assert names(postgres) == ["a", "b"]


def test_whoever_holds_the_lock_in_silence_loses_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a machine does that has lost its power, or its network."""
    monkeypatch.setattr(writer, "SILENT_S", 0.1)
    with closing(PostgresStore(url, connections=2)) as silent, closing(PostgresStore(url, connections=2)) as other:

        def stopped(tx: Tx) -> None:
            tx.run(ADD, {"name": "lost"})
            with other.write() as later:
                later.run(ADD, {"name": "kept"})

        with pytest.raises(Unavailable), silent.write() as tx:
            stopped(tx)
        assert names(other) == names(silent) == ["kept"]


def test_a_connection_that_dies_while_it_is_undone_is_given_back(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = Session.command

    def cut_before_undoing(session: Session, sql: str) -> str | None:
        if sql == "ROLLBACK":
            cut(url)
        return command(session, sql)

    with (
        closing(PostgresStore(url, connections=2)) as holder,
        closing(PostgresStore(url, connections=1, patience_s=0.1)) as waiting,
    ):
        with pytest.raises(Unavailable), holder.write() as tx:
            tx.run(ADD, {"name": "a"})
            monkeypatch.setattr(Session, "command", cut_before_undoing)
            with pytest.raises(Unavailable), waiting.write():
                pytest.fail("two wrote at once")
            monkeypatch.undo()
        with waiting.write() as tx:
            tx.run(ADD, {"name": "b"})
        assert names(waiting) == ["b"]


def test_a_transaction_sees_what_was_committed_while_it_waited(url: str) -> None:
    """Whatever the server's own level of isolation is."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"ALTER DATABASE \"{connection.info.dbname}\" SET default_transaction_isolation = 'repeatable read'"
        )
    with (
        closing(PostgresStore(url, connections=2)) as one,
        closing(PostgresStore(url, connections=2)) as two,
        ThreadPoolExecutor(1) as pool,
    ):
        with one.write() as tx:
            tx.run(ADD, {"name": "c"})
            reading = pool.submit(names_under_lock, two)
            until_somebody_waits(one)
        assert reading.result(5) == ["c"]


def names_under_lock(store: PostgresStore) -> list[str]:
    with store.write() as tx:
        return [name for (name,) in tx.tuples("SELECT name FROM counters")]


def until_somebody_waits(store: PostgresStore) -> None:
    for _ in range(500):
        if store.one("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
            return
        time.sleep(0.01)
    pytest.fail("nobody waits for the lock")
