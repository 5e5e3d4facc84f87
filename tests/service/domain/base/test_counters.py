"""Exact counts, kept with the rows they count."""

from webapp.service.domain.base import counters
from webapp.store.sqlite import SQLiteStore


def test_a_count_starts_at_nothing_and_follows_its_transaction(store: SQLiteStore) -> None:
    assert counters.read(store, "a") == 0
    with store.write() as tx:
        counters.add(tx, ["a", "b"], 2)
        counters.add(tx, ["a"], -1)
    assert (counters.read(store, "a"), counters.read(store, "b")) == (1, 2)


def test_dropping_a_prefix_leaves_its_neighbours(store: SQLiteStore) -> None:
    with store.write() as tx:
        counters.add(tx, ["proj_1|x", "proj_1|é", "proj_10|x", "proj_2|x"], 1)
        counters.drop(tx, "proj_1|")
    left = [row["name"] for row in store.all("SELECT name FROM counters ORDER BY name")]
    assert left == ["proj_10|x", "proj_2|x"]
