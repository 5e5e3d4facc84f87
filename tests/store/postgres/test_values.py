"""Values come back from PostgreSQL as they do from SQLite."""

from webapp.store.postgres.store import PostgresStore


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
