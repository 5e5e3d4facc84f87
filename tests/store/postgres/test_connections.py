"""Lost connections are replaced, a read is asked again, and a pooler may stand in between.

Values come back as SQLite gives them, and what PostgreSQL says is wrong becomes one of our errors, or stays what it is
where the fault is ours.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from psycopg_pool import PoolTimeout
from psycopg_pool.base import AttemptWithBackoff

from tests.once.pgbouncer import pooled
from webapp.errors import Conflict, Damaged, Unavailable, Unwritable
from webapp.store.postgres import connections
from webapp.store.postgres.connections import Pool, numbered, translated, translation
from webapp.store.postgres.store import PostgresStore

ADD = "INSERT INTO counters (name, n) VALUES (:name, 1)"


def cut(url: str) -> None:
    """End every connection of the store, as a server does that is stopped."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def names(postgres: PostgresStore) -> list[str]:
    return [name for (name,) in postgres.tuples("SELECT name FROM counters ORDER BY name")]


def test_reads_and_writes_continue_after_a_lost_connection(postgres: PostgresStore, url: str) -> None:
    for name in ("a", "b"):
        with postgres.write() as tx:
            tx.run(ADD, {"name": name})
        cut(url)
        assert names(postgres)[-1] == name
        cut(url)
    assert names(postgres) == ["a", "b"]


def test_a_pooler_may_stand_in_between(url: str) -> None:
    """With two connections for all, each transaction may come to another one."""
    with pooled(url) as address, closing(PostgresStore(address, connections=6)) as store:

        def work(number: int) -> int:
            for _ in range(15):
                with store.write() as tx:
                    tx.run(f"{ADD} ON CONFLICT (name) DO UPDATE SET n = counters.n + 1", {"name": f"c{number % 3}"})
            return len(names(store))

        with ThreadPoolExecutor(6) as pool:
            assert set(pool.map(work, range(6))) <= {1, 2, 3}
        assert store.tuples("SELECT n FROM counters") == [(30,)] * 3
        with store.listen(lambda: pytest.fail("nothing is heard through it")):
            store.notify()
        assert store.tuples("SELECT name FROM pg_prepared_statements") == []


def test_statements_are_prepared_where_nothing_stands_in_between(postgres: PostgresStore) -> None:
    for _ in range(64):  # each connection of the pool has its own
        names(postgres)
    assert any("FROM counters" in sql for (sql,) in postgres.tuples("SELECT statement FROM pg_prepared_statements"))


PREPARED = "SELECT statement FROM pg_prepared_statements"


def test_only_so_many_stay_prepared(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_PREPARED", 2)
    pool = Pool(url, 1, 2)
    with closing(pool), pool.session() as session:
        for number in (1, 2, 3):
            for _ in range(connections.PREPARED_FROM + 1):
                assert session.tuples(f"SELECT {number} + :n", {"n": number}) == [(2 * number,)]
        session.tuples("SELECT 1")  # what is let go is deallocated before the next statement
        kept = session.connection.execute(PREPARED, prepare=False).fetchall()
        assert sorted(kept) == [("SELECT 2 + $1",), ("SELECT 3 + $1",)]


@pytest.mark.parametrize("prepares", [True, False])
def test_what_fails_is_reported_and_leaves_it_fit_for_more(
    url: str, monkeypatch: pytest.MonkeyPatch, *, prepares: bool
) -> None:
    monkeypatch.setattr(connections, "_is_pooled", lambda _: not prepares)
    pool = Pool(url, 1, 2)
    with closing(pool), pool.session() as session:
        for _ in range(3):
            with pytest.raises(psycopg.errors.DivisionByZero):
                session.tuples("SELECT 1 / CAST(:n AS INT)", {"n": 0})
            with pytest.raises(psycopg.errors.UndefinedTable):
                session.tuples("SELECT * FROM nothing")
            assert session.tuples("SELECT :a, :b", {"a": "a", "b": None}) == [("a", None)]
        assert bool(session.connection.execute(PREPARED, prepare=False).fetchall()) is prepares


def test_a_server_that_is_gone_is_no_fault_of_the_statement(url: str) -> None:
    pool = Pool(url, 1, 2)
    with closing(pool), pool.session() as session:
        cut(url)
        with pytest.raises(psycopg.OperationalError):
            session.command("SELECT 1")


def test_after_an_outage_whoever_asks_is_connected_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However seldom the pool would try by itself by then."""
    monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 0.02)
    monkeypatch.setattr(AttemptWithBackoff, "DELAY_BACKOFF", 1000)
    monkeypatch.setattr(connections, "RECONNECT_S", 0.1)
    with closing(PostgresStore(url, connections=1, patience_s=0.3)) as store:
        assert names(store) == []
        with monkeypatch.context() as away:
            away.setattr(psycopg.Connection, "connect", classmethod(_refuse))
            cut(url)
            with pytest.raises(Unavailable):
                names(store)
        assert names(store) == []


def _refuse(*_: object, **__: object) -> None:
    raise psycopg.OperationalError("connection refused")


@pytest.mark.parametrize(
    ("sql", "text", "names"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("a = :a AND b = :b_2 OR a > :a", "a = $1 AND b = $2 OR a > $1", ("a", "b_2")),
        ("x = ':a' AND y = :a", "x = ':a' AND y = $1", ("a",)),
        ("x = 'it''s :b' AND y = :a", "x = 'it''s :b' AND y = $1", ("a",)),
        ('SELECT "odd:name", id::text, n % 2 FROM t', 'SELECT "odd:name", id::text, n % 2 FROM t', ()),
        ("SELECT 1 -- it's :a\n WHERE x = :b", "SELECT 1 -- it's :a\n WHERE x = $1", ("b",)),
        ("LIKE '100%' AND :é = 1", "LIKE '100%' AND :é = 1", ()),
    ],
)
def test_parameters_are_numbered(sql: str, text: str, names: tuple[str, ...]) -> None:
    assert numbered(sql, {name: f"the value of {name}" for name in ("b", "b_2", "a")}) == (
        text,
        [f"the value of {name}" for name in names],
    )


def test_values_are_those_that_the_embedded_store_gives(postgres: PostgresStore) -> None:
    row = postgres.one(
        "SELECT n = 1 AS truth, SUM(n) AS total, AVG(n) AS mean, COUNT(*) AS count, MAX(name) AS name, NULL AS nothing "
        "FROM (VALUES ('a', CAST(1 AS BIGINT)), ('b', 1)) AS t (name, n) GROUP BY n"
    )
    assert row == {"truth": 1, "total": 2, "mean": 1, "count": 2, "name": "b", "nothing": None}
    assert {type(value) for value in row.values()} == {int, str, type(None)}
    assert postgres.one("SELECT AVG(n) AS mean FROM (VALUES (1), (2)) AS t (n)") == {"mean": 1.5}


def test_a_truth_is_kept_as_a_number(postgres: PostgresStore) -> None:
    with postgres.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES ('yes', :yes), ('no', :no)", {"yes": True, "no": False})
    assert postgres.tuples("SELECT n FROM counters ORDER BY name") == [(0,), (1,)]


def test_texts_sort_by_their_bytes(postgres: PostgresStore) -> None:
    with postgres.write() as tx:
        for name in ("b", "B", "a", "_", "é", "\U0010ffff", "\ue000"):
            tx.run("INSERT INTO counters (name, n) VALUES (:name, 1)", {"name": name})
    names = [name for (name,) in postgres.tuples("SELECT name FROM counters ORDER BY name")]
    assert names == ["B", "_", "a", "b", "é", "\ue000", "\U0010ffff"]


def test_nul_in_a_text_is_kept_as_the_replacement_character(postgres: PostgresStore) -> None:
    with postgres.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES (:name, 1)", {"name": "a\0b"})
    assert postgres.tuples("SELECT name FROM counters WHERE name = :name", {"name": "a\0b"}) == [("a\ufffdb",)]


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (psycopg.errors.UniqueViolation(), Conflict),
        (psycopg.errors.ForeignKeyViolation(), Conflict),
        (psycopg.errors.NotNullViolation(), Conflict),
        (psycopg.errors.LockNotAvailable(), Unavailable),
        (psycopg.errors.DeadlockDetected(), Unavailable),
        (psycopg.errors.AdminShutdown(), Unavailable),
        (psycopg.errors.IdleInTransactionSessionTimeout(), Unavailable),
        (psycopg.errors.TooManyConnections(), Unavailable),
        (psycopg.OperationalError("the connection is lost"), Unavailable),
        (PoolTimeout(), Unavailable),
        (psycopg.errors.DiskFull(), Unwritable),
        (psycopg.errors.ReadOnlySqlTransaction(), Unwritable),
        (psycopg.errors.InsufficientPrivilege(), Unwritable),
        (psycopg.errors.DataCorrupted(), Damaged),
    ],
)
def test_an_error_of_the_database_is_one_of_ours(error: Exception, ours: type[Exception]) -> None:
    assert type(translation(error)) is ours
    with pytest.raises(ours) as caught, translated():
        raise error
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [psycopg.errors.UndefinedTable(), psycopg.errors.SyntaxError(), ValueError()])
def test_a_fault_of_ours_stays_what_it_is(error: Exception) -> None:
    assert translation(error) is None
    with pytest.raises(type(error)), translated():
        raise error
