"""What PostgreSQL has beyond the contract, which ``test_contract`` looks at: its server, and how it is shared."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.once import postgres as databases
from webapp.errors import Unavailable, Unwritable
from webapp.store.contract import Tx
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


def test_a_block_that_raises_beside_others_undoes_its_own_work_alone(postgres: PostgresStore) -> None:
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
