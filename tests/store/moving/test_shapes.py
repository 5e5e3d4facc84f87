"""Every table of the schema is carried over, after those that it refers to."""

from contextlib import closing
from pathlib import Path

from webapp.store.moving.shapes import STAYING, shapes
from webapp.store.sqlite import SQLiteStore


def test_every_table_is_there_with_its_columns_and_a_key(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path / "patchbay.db")) as store:
        store.migrate()
        names = {
            name
            for (name,) in store.tuples("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith(("sqlite_", "_sqlite_"))
        }
        columns = {
            name: {column for _, column, *_ in store.tuples(f"PRAGMA table_info({name})")} for name in names - STAYING
        }
    assert {shape.name: set(shape.columns) for shape in shapes()} == columns
    assert all(set(shape.key) <= set(shape.columns) and shape.key for shape in shapes())


def test_a_table_comes_after_those_that_it_refers_to() -> None:
    order = [shape.name for shape in shapes()]
    for before, after in [("projects", "accounts"), ("events", "deliveries"), ("deliveries", "delivery_attempts")]:
        assert order.index(before) < order.index(after)
    assert [shape.name for shape in shapes() if shape.refers_to_itself] == ["provider_clients"]
    assert next(shape.key for shape in shapes() if shape.name == "delivery_attempts") == ("delivery_id", "n")
