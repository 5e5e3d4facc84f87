"""The tables that a move carries over, read from the migrations themselves: a new table needs no line here."""

from functools import cache
from graphlib import TopologicalSorter
from typing import NamedTuple

from sqlite_utils import Database

from webapp.store.migrations import SCHEMA

STAYING = frozenset({"migration_checksums", "moves"})
"""What each database says of itself."""


class Shape(NamedTuple):
    """A table: its columns, those of its primary key, and whether its rows refer to each other."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    refers_to_itself: bool


@cache
def shapes() -> tuple[Shape, ...]:
    """Every table, after those that it refers to."""
    with Database(memory=True) as model:
        for name in SCHEMA.names:
            SCHEMA.migration(name).apply(model)
        tables = {name: model.table(name) for name in model.table_names() if name not in STAYING}
        refers = {name: {key.other_table for key in table.foreign_keys} for name, table in tables.items()}
        order = TopologicalSorter({name: sorted(others - {name}) for name, others in sorted(refers.items())})
        return tuple(
            Shape(name, tuple(tables[name].columns_dict), tuple(tables[name].pks), name in refers[name])
            for name in order.static_order()
        )
