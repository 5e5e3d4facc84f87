"""What :mod:`webapp.store.contract` promises, on every backend."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.once import schema
from webapp.errors import Conflict, NotFound
from webapp.store.contract import Row, Store, Tx, among, limited, merging

OpenStore = Callable[[], Store]
INSERT = "INSERT INTO counters (name, n) VALUES (:name, :n)"


def put(store: Store, name: str, n: int) -> None:
    with store.write() as tx:
        assert tx.run(INSERT, {"name": name, "n": n}) == 1


def read(store: Store, name: str) -> int | None:
    row = store.one("SELECT n FROM counters WHERE name = :name", {"name": name})
    return row["n"] if row else None


def add_one(store: Store) -> None:
    """Read, then write: what loses updates when the lock comes late."""
    with store.write() as tx:
        row = tx.one("SELECT n FROM counters WHERE name = 'c'")
        assert row
        tx.run("UPDATE counters SET n = :n WHERE name = 'c'", {"n": row["n"] + 1})


def test_merged_parts_are_one_list_in_order_up_to_the_limit(open_store: OpenStore) -> None:
    store = open_store()
    for number in range(6):
        put(store, f"{'odd' if number % 2 else 'even'}-{number}", number)
    parts = [f"SELECT n AS at, name FROM counters WHERE name LIKE '{kind}%'" for kind in ("odd", "even")]
    sql = merging(parts, "at DESC", 4)
    assert [at for at, _ in store.tuples(sql)] == [at for at, _ in store.tuples(limited(sql))] == [5, 4, 3, 2]
    assert store.tuples(merging(parts[:1], "at ASC", 1)) == [(1, "odd-1")]
    assert limited("SELECT 1") == "SELECT 1"


def test_migrating_twice_applies_nothing_the_second_time(
    open_empty_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.migrate_anew(monkeypatch)
    store = open_empty_store()
    waiting = store.pending()
    assert waiting and store.migrate() == waiting
    assert store.pending() == [] == store.migrate()


def test_two_processes_may_migrate_at_once(open_empty_store: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.migrate_anew(monkeypatch)
    stores = [open_empty_store(), open_empty_store()]
    with ThreadPoolExecutor(2) as pool:
        applied = list(pool.map(lambda store: store.migrate(), stores))
    assert sorted(applied, key=len)[0] == []
    assert stores[0].pending() == stores[1].pending() == []


def test_what_is_committed_is_there_for_everyone(any_store: Store, open_store: OpenStore) -> None:
    put(any_store, "a", 1)
    assert read(any_store, "a") == read(open_store(), "a") == 1


def test_text_is_searched_whatever_its_case_and_accents(any_store: Store) -> None:
    put(any_store, "Ärzte", 1)
    put(any_store, "Arbeit", 2)
    for part, names in (("ÄR", ["Arbeit", "Ärzte"]), ("zte", ["Ärzte"]), ("%", [])):
        rows = any_store.tuples("SELECT name FROM counters WHERE holds(name, :part) ORDER BY name", {"part": part})
        assert [name for (name,) in rows] == names
    assert any_store.one("SELECT holds(NULL, 'a') AS is_there") == {"is_there": 0}


def test_rows_are_dictionaries_by_column_in_order(any_store: Store) -> None:
    put(any_store, "b", 2)
    put(any_store, "a", 1)
    rows: list[Row] = any_store.all("SELECT name, n AS count FROM counters ORDER BY name")
    assert rows == [{"name": "a", "count": 1}, {"name": "b", "count": 2}]
    assert any_store.one("SELECT name FROM counters ORDER BY name") == {"name": "a"}


def test_rows_are_tuples_where_that_is_asked_for(any_store: Store) -> None:
    put(any_store, "b", 2)
    put(any_store, "a", 1)
    sql = "SELECT n, name FROM counters WHERE n >= :low ORDER BY name"
    assert any_store.tuples(sql, {"low": 1}) == [(1, "a"), (2, "b")]
    assert any_store.tuples(sql, {"low": 9}) == []
    with any_store.write() as tx:
        put_in = tx.run(INSERT, {"name": "c", "n": 3})
        assert put_in == 1 and tx.tuples(sql, {"low": 3}) == [(3, "c")]


def test_nothing_found_is_an_empty_list_or_none(any_store: Store) -> None:
    assert any_store.all("SELECT name FROM counters") == []
    assert any_store.one("SELECT name FROM counters") is None


def test_a_block_that_raises_is_undone_and_its_error_comes_through(any_store: Store) -> None:
    with pytest.raises(NotFound, match="a reason"), any_store.write() as tx:
        tx.run(INSERT, {"name": "a", "n": 1})
        raise NotFound("a reason")
    assert read(any_store, "a") is None
    put(any_store, "a", 2)
    assert read(any_store, "a") == 2


def test_a_transaction_reads_its_own_writes_and_others_do_not(any_store: Store) -> None:
    with any_store.write() as tx:
        tx.run(INSERT, {"name": "a", "n": 1})
        assert tx.one("SELECT n FROM counters") == {"n": 1}
        assert tx.all("SELECT n FROM counters") == [{"n": 1}]
        assert any_store.all("SELECT n FROM counters") == []
    assert any_store.all("SELECT n FROM counters") == [{"n": 1}]


def test_run_counts_the_rows_it_touched(any_store: Store) -> None:
    for n in range(3):
        put(any_store, f"c{n}", n)
    with any_store.write() as tx:
        assert tx.run("UPDATE counters SET n = n + 1 WHERE n < :n", {"n": 2}) == 2
        assert tx.run("DELETE FROM counters WHERE name = 'absent'") == 0


def test_portable_sql_upserts_and_returns(any_store: Store) -> None:
    upsert = (
        "INSERT INTO counters (name, n) VALUES (:name, 1) "
        "ON CONFLICT (name) DO UPDATE SET n = counters.n + 1 RETURNING n"
    )
    with any_store.write() as tx:
        assert tx.one(upsert, {"name": "a"}) == {"n": 1}
        assert tx.one(upsert, {"name": "a"}) == {"n": 2}
    assert read(any_store, "a") == 2


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        (INSERT, {"name": "taken", "n": 1}),
        (INSERT, {"name": "no number", "n": None}),
        ("INSERT INTO connect_tokens (token_hash, project_id) VALUES ('t', 'proj_absent')", {}),
        ("INSERT INTO sessions (token_hash, user_id, user_agent, address, created_at, seen_at, expires_at) "
         "VALUES ('t', 'u_absent', '', '', 0, 0, 0)", {}),
    ],
    ids=["unique", "not null", "not null of another", "foreign key"],
)  # fmt: skip
def test_a_broken_constraint_is_a_conflict_and_undoes_the_whole_block(
    any_store: Store, sql: str, params: dict[str, object]
) -> None:
    put(any_store, "taken", 0)
    with pytest.raises(Conflict), any_store.write() as tx:
        tx.run(INSERT, {"name": "before", "n": 1})
        tx.run(sql, params)
    assert read(any_store, "before") is None


def test_deleting_an_owner_deletes_what_it_owns(any_store: Store) -> None:
    with any_store.write() as tx:
        tx.run("INSERT INTO users VALUES ('u_1', 'a@example.com', 'x', 'owner', 0, 0, NULL, NULL)")
        tx.run("INSERT INTO sessions VALUES ('t', 'u_1', '', '', 0, 0, 0, '', '')")
        tx.run("DELETE FROM users")
    assert any_store.all("SELECT * FROM sessions") == []


def test_values_come_back_as_they_went_in(any_store: Store) -> None:
    blob, text, number = bytes(range(256)), "Ünï 🧵 '; DROP TABLE users; --", 2**63 - 1
    with any_store.write() as tx:
        tx.run(
            "INSERT INTO data_keys (owner, version, wrapped, created_at) VALUES (:owner, 1, :wrapped, :at)",
            {"owner": text, "wrapped": blob, "at": number},
        )
    assert any_store.one("SELECT owner, wrapped, created_at FROM data_keys") == {
        "owner": text,
        "wrapped": blob,
        "created_at": number,
    }


def test_wrong_sql_is_our_bug_and_raises_as_such(any_store: Store) -> None:
    with pytest.raises(Exception, match="nowhere") as caught:
        any_store.all("SELECT * FROM nowhere")
    assert caught.type.__module__.split(".")[0] != "webapp"


def test_threads_share_one_store(any_store: Store) -> None:
    put(any_store, "c", 0)
    start = threading.Barrier(8)

    def work(_: int) -> None:
        start.wait()
        for _ in range(25):
            add_one(any_store)
            assert read(any_store, "c")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert read(any_store, "c") == 200


def test_readers_do_not_wait_for_a_writer(any_store: Store) -> None:
    put(any_store, "c", 1)
    with any_store.write() as tx:
        tx.run("UPDATE counters SET n = 2")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(read, any_store, "c").result(timeout=1) == 1


def test_a_transaction_is_not_nested(any_store: Store) -> None:
    def inner(tx: Tx) -> None:
        with any_store.write():
            tx.run("DELETE FROM counters")

    put(any_store, "a", 1)
    with pytest.raises(Exception), any_store.write() as tx:  # noqa: B017  # which error is the backend's own affair
        inner(tx)
    assert read(any_store, "a") == 1


def test_many_rows_are_added_at_once_or_none(any_store: Store) -> None:
    def load(*rows: tuple[str, int]) -> None:
        with any_store.write() as tx:
            tx.load("counters", ("name", "n"), rows)

    load(("a", 1), ("tab\t\\N", 2))
    with pytest.raises(Conflict):
        load(("b", 3), ("a", 4))
    assert any_store.tuples("SELECT name, n FROM counters ORDER BY n") == [("a", 1), ("tab\t\\N", 2)]


def test_a_checkpoint_loses_nothing(any_store: Store, open_store: OpenStore) -> None:
    put(any_store, "a", 1)
    any_store.checkpoint()
    put(any_store, "b", 2)
    any_store.checkpoint()
    assert (read(open_store(), "a"), read(open_store(), "b")) == (1, 2)


def test_nothing_is_among_none(any_store: Store) -> None:
    put(any_store, "a", 1)
    inside, params = among([])
    assert any_store.all(f"SELECT name FROM counters WHERE name IN ({inside})", params) == []
    inside, params = among(["a", "b"])
    assert any_store.all(f"SELECT name FROM counters WHERE name IN ({inside})", params) == [{"name": "a"}]


def test_who_rings_waits_for_nothing_and_is_not_rung_himself(any_store: Store) -> None:
    heard: list[None] = []
    with any_store.listen(lambda: heard.append(None)):
        for _ in range(3):
            any_store.notify()
    assert len(heard) <= 1, "it may be woken when it begins to listen"


ADD = "INSERT INTO counters (name, n) VALUES (:name, :by) ON CONFLICT (name) DO UPDATE SET n = counters.n + excluded.n"


def test_what_shared_transactions_add_is_there_once_they_are_committed(any_store: Store, open_store: OpenStore) -> None:
    def add(store: Store) -> None:
        for name in ("b", "a"):
            with store.write(shared=True) as tx:
                tx.add(ADD, {"name": name}, 3)
                tx.add(ADD, {"name": name}, -1)
            with pytest.raises(ValueError, match="undone"), store.write(shared=True) as tx:
                tx.add(ADD, {"name": name}, 100)
                raise ValueError("undone")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, [any_store, open_store()] * 8))
    assert (read(any_store, "a"), read(any_store, "b")) == (32, 32)


def test_what_a_transaction_adds_that_is_not_shared_it_reads_at_once(any_store: Store) -> None:
    with any_store.write() as tx:
        tx.add(ADD, {"name": "a"}, 2)
        assert not tx.shared and tx.one("SELECT n FROM counters") == {"n": 2}
