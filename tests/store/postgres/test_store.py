"""What PostgreSQL has beyond the contract, which ``test_contract`` looks at: its server, write lock and notifications.

Writers come one after another. One that is cut off, or falls silent, is undone, and the next one writes. A notification
wakes those who listen in other processes, also after the connection was lost.
"""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest

from tests.once import postgres as databases
from tests.store.postgres.test_connections import ADD, cut, names
from webapp.errors import Unavailable, Unwritable
from webapp.store.contract import Tx
from webapp.store.postgres import store as store_module
from webapp.store.postgres.connections import Session
from webapp.store.postgres.store import PostgresStore


def add_one(tx: Tx) -> None:
    """Read, then write: what loses updates when two do it at once."""
    ((n,),) = tx.tuples("SELECT n FROM counters WHERE name = 'c'")
    tx.run("UPDATE counters SET n = :n WHERE name = 'c'", {"n": n + 1})


def test_writers_of_several_processes_come_one_after_another(postgres: PostgresStore, url: str) -> None:
    others = [PostgresStore(url, connections=2) for _ in range(3)]
    with postgres.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES ('c', 0)")

    def work(store: PostgresStore) -> None:
        for _ in range(25):
            with store.write() as tx:
                add_one(tx)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [postgres, *others] * 2))
    for other in others:
        other.close()
    assert postgres.one("SELECT n FROM counters") == {"n": 200}


def test_a_block_that_raises_beside_others_undoes_its_own_work_only(postgres: PostgresStore) -> None:
    start = threading.Barrier(6)

    def work(number: int) -> bool:
        start.wait()
        try:
            with postgres.write() as tx:
                tx.run("INSERT INTO counters (name, n) VALUES (:name, 1)", {"name": str(number)})
                tx.run(
                    "INSERT INTO counters (name, n) VALUES (:name, :n)", {"name": f"{number}b", "n": number % 2 or None}
                )
        except Exception:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(work, range(6)))
    assert done == [False, True] * 3
    assert postgres.tuples("SELECT name FROM counters ORDER BY name") == [
        (n,) for n in ("1", "1b", "3", "3b", "5", "5b")
    ]


def test_it_says_what_answers_and_how_large_it_is(postgres: PostgresStore) -> None:
    assert postgres.folder is None and postgres.faults() == []
    assert postgres.server().startswith("PostgreSQL ") and postgres.sizes().database > 1 << 20
    assert (postgres.sizes().log, postgres.sizes().free) == (0, None)


def test_a_server_that_takes_no_writes_says_so(postgres: PostgresStore, url: str) -> None:
    postgres.check_writable()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{connection.info.dbname}" SET default_transaction_read_only = on')
    standby = PostgresStore(url, connections=2)
    with pytest.raises(Unwritable, match="read-only"):
        standby.check_writable()
    with pytest.raises(Unwritable, match="read-only"), standby.write() as tx:
        tx.run("DELETE FROM counters")
    standby.close()


@pytest.mark.parametrize("wrong", ["postgresql://ada:wrong@127.0.0.1:{port}/postgres", "postgresql://127.0.0.1:1/none"])
def test_an_address_that_leads_nowhere_is_said_in_a_sentence(url: str, wrong: str) -> None:
    port = url.rpartition(":")[2].partition("/")[0]
    with pytest.raises(Unavailable, match=r"^PATCHBAY_DATABASE_URL leads to no database: .*\.$") as caught:
        PostgresStore(wrong.format(port=port))
    assert "wrong" not in caught.value.message


def test_an_address_that_libpq_cannot_read_is_not_repeated() -> None:
    with pytest.raises(Unavailable, match=r"^PATCHBAY_DATABASE_URL is not an address that libpq reads\.$") as caught:
        PostgresStore("postgresql://u:se%canary@127.0.0.1/db")
    assert caught.value.__suppress_context__


def test_a_database_that_cannot_keep_every_letter_is_refused(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE narrow TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(Unavailable, match="keeps text as SQL_ASCII; it must be UTF8"):
        PostgresStore(databases.url("narrow"))
    databases.drop("narrow")


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
    monkeypatch.setattr(store_module, "SILENT_S", 0.1)
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
        ends = time.monotonic() + 10
        while not _adds(waiting, "b") and time.monotonic() < ends:  # a new connection may take longer than it waits
            pass
        assert names(waiting) == ["b"]


def _adds(store: PostgresStore, name: str) -> bool:
    """Whether ``store`` could add a row in its time."""
    with suppress(Unavailable), store.write() as tx:
        tx.run(ADD, {"name": name})
        return True
    return False


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


def test_shared_ones_write_at_once_and_keep_all_others_out(url: str) -> None:
    with (
        closing(PostgresStore(url, connections=3)) as one,
        closing(PostgresStore(url, connections=3)) as two,
        closing(PostgresStore(url, connections=3, patience_s=0.1)) as alone,
    ):
        with one.write(shared=True) as tx, two.write(shared=True) as other:
            assert tx.run(ADD, {"name": "a"}) == other.run(ADD, {"name": "b"}) == 1
            with pytest.raises(Unavailable), alone.write():
                pytest.fail("one wrote that was not shared")
        with one.write() as tx:
            tx.run(ADD, {"name": "c"})
            with pytest.raises(Unavailable), alone.write(shared=True):
                pytest.fail("a shared one wrote beside one that was not")
        assert names(one) == ["a", "b", "c"]


def test_shared_ones_do_not_keep_another_away_for_good(url: str) -> None:
    """Two that take turns leave no moment free; who comes in between waits for those before it alone."""
    with closing(PostgresStore(url, connections=3)) as one, closing(PostgresStore(url, connections=3)) as two:
        over, first = threading.Event(), threading.Event()

        def write(store: PostgresStore) -> None:
            while not over.is_set():
                with store.write(shared=True):
                    first.set()
                    time.sleep(0.01)

        with ThreadPoolExecutor(2) as pool:
            for store in (one, two):
                pool.submit(write, store)
            first.wait(5)
            began = time.monotonic()
            with one.write() as tx:
                tx.run(ADD, {"name": "between"})
            took_s = time.monotonic() - began
            over.set()
        assert took_s < 5.0 and names(one) == ["between"]


def test_readers_wait_for_no_writer_where_connections_are_few(url: str) -> None:
    with (
        closing(PostgresStore(url, connections=3)) as other,
        closing(PostgresStore(url, connections=2, patience_s=2)) as few,
        ThreadPoolExecutor(2) as pool,
    ):
        with other.write():
            waiting = [pool.submit(add_name, few, shared) for shared in (False, True)]
            until_somebody_waits(other)
            time.sleep(0.05)
            assert names(few) == []
        for write in waiting:
            write.result()
        assert names(few) == ["False", "True"]


def add_name(store: PostgresStore, shared: bool) -> None:
    with store.write(shared=shared) as tx:
        tx.run(ADD, {"name": str(shared)})


def test_a_lone_write_needs_no_savepoint_and_one_that_is_undone_ends_its_transaction(
    postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, command = [], Session.command

    def noted(session: Session, sql: str) -> str | None:
        commands.append(sql.split()[0])
        return command(session, sql)

    monkeypatch.setattr(Session, "command", noted)
    with postgres.write() as tx:
        tx.run(ADD, {"name": "a"})
        assert tx.tuples("SHOW lock_timeout") == [("2s",)]
        assert tx.tuples("SHOW idle_in_transaction_session_timeout") == [("10s",)]
    with pytest.raises(ValueError, match="undone"), postgres.write() as tx:
        tx.run(ADD, {"name": "b"})
        raise ValueError("undone")
    with postgres.write() as tx:
        tx.run(ADD, {"name": "c"})
    assert commands == ["BEGIN", "COMMIT", "BEGIN", "ROLLBACK", "BEGIN", "COMMIT"]
    assert names(postgres) == ["a", "c"]


@pytest.mark.parametrize("at_once", [1, 2, 16])
def test_the_sums_of_a_transaction_are_written_together(
    postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(store_module, "AT_ONCE", at_once)
    sum_of_name = f"{ADD.replace('1)', ':by)')} ON CONFLICT (name) DO UPDATE SET n = counters.n + excluded.n"
    other = "UPDATE counters SET n = n + :by WHERE name = :name"
    for _ in range(2):
        with postgres.write(shared=True) as tx:
            for name in "cab":
                tx.add(sum_of_name, {"name": name}, 2)
                tx.add(other, {"name": name}, 1)
    assert postgres.tuples("SELECT name, n FROM counters ORDER BY name") == [("a", 6), ("b", 6), ("c", 6)]


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who listens looks up soon."""
    monkeypatch.setattr(store_module, "_LOOK_S", 0.05)


@contextmanager
def hearing(store: PostgresStore) -> Iterator[threading.Semaphore]:
    """Counts what ``store`` hears, from when it listens."""
    heard = threading.Semaphore(0)
    with store.listen(heard.release):
        assert heard.acquire(timeout=5)
        yield heard


@pytest.mark.usefixtures("brisk")
def test_a_ring_is_heard_in_another_process_and_not_in_ones_own(postgres: PostgresStore, url: str) -> None:
    with closing(PostgresStore(url, connections=2)) as other, hearing(other) as heard, hearing(postgres) as own:
        postgres.notify()
        assert heard.acquire(timeout=5)
        postgres.notify()
        assert heard.acquire(timeout=5)
        assert not own.acquire(timeout=0.05)
    assert {thread.name for thread in threading.enumerate()} & {"listener"} == set()


@pytest.mark.usefixtures("brisk")
def test_many_rings_are_one(postgres: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PAUSE_S", 0.2)
    with closing(PostgresStore(url, connections=2)) as other, hearing(other) as heard:
        for _ in range(100):
            postgres.notify()
        assert heard.acquire(timeout=5)
        assert sum(heard.acquire(timeout=0.1) for _ in range(3)) <= 1


@pytest.mark.usefixtures("brisk")
def test_it_listens_again_after_a_lost_connection(
    postgres: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "AFTER_TROUBLE_S", 0.01)
    with closing(PostgresStore(url, connections=2)) as other, hearing(other) as heard:
        cut(url)
        assert heard.acquire(timeout=5), "something may have happened meanwhile"
        postgres.notify()
        assert heard.acquire(timeout=5)
