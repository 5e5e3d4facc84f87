"""``make bench-growth``: how lists and counts grow on PostgreSQL, by the CPU of the server's process and of ours.

Of each list the least of many rounds counts, since what else the machine does only adds to one.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import click
import psycopg

from tests.bench.growth import TARGET, WARM_UP, Growth
from tests.bench.meter import spent_s
from tests.once import postgres as databases
from tests.store.lists import LISTS, List, filled
from webapp.store.contract import Reader
from webapp.store.move import CREATED_BY_MIGRATE, Shape, key_of, page, shapes
from webapp.store.postgres.store import PostgresStore

PAGE, ROUNDS = 5_000, 15


@click.command()
@click.option("--few", default=1_000, show_default=True, help="Rows of others in the one database.")
@click.option("--many", default=100_000, show_default=True, help="Rows of others in the other.")
@click.option("--requests", "count", default=100, show_default=True, help="How often a list is asked for in a round.")
@click.option("--explain", is_flag=True, help=f"The plans of the lists above {TARGET:g} ×.")
def growth(few: int, many: int, count: int, explain: bool) -> None:
    """Print the CPU milliseconds of each list in both databases, the worst last."""
    with ExitStack() as stack:
        stores = [stack.enter_context(_store(rows)) for rows in (few, many)]
        lists = {}
        for name, listed in LISTS.items():
            one, other = (min(side) for side in zip(*_rounds(stores, listed, count), strict=True))
            lists[name] = (round(one, 3), round(other, 3), round(other / one, 2))
        for name, (one, other, ratio) in sorted(lists.items(), key=lambda item: item[1][2]):
            click.echo(f"{ratio:5.2f} ×  {one:.3f}  {other:.3f} ms  {name}")
            if explain and ratio > TARGET:
                for line in _plans(stores[1], LISTS[name]):
                    click.echo(f"    {line}")
    click.echo(Growth(few, many, lists).text())


def _rounds(stores: Sequence[PostgresStore], listed: List, count: int) -> list[list[float]]:
    return [[_cpu_ms(store, listed, count) for store in stores] for _ in range(ROUNDS)]


class Recorder:
    """A reader that keeps what it is asked."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.asked: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._reader, name)

        def kept(sql: str, params: Any = ()) -> Any:
            self.asked.append((sql, params))
            return verb(sql, params or {})

        return kept


def _plans(store: PostgresStore, listed: List) -> Iterator[str]:
    recorder = Recorder(store)
    listed(recorder)
    for sql, params in recorder.asked:
        for (line,) in store.tuples(f"EXPLAIN (ANALYZE, COSTS OFF, SUMMARY OFF) {sql}", params or {}):
            yield line


@contextmanager
def _store(rows: int) -> Iterator[PostgresStore]:
    """What :func:`tests.store.lists.filled` makes, in PostgreSQL, with the statistics of a server that runs."""
    name = databases.new()
    with tempfile.TemporaryDirectory() as folder, closing(PostgresStore(databases.url(name), connections=1)) as store:
        with closing(filled(Path(folder) / "patchbay.db", rows)) as source, store.write() as tx:
            for shape in shapes():
                if shape.name not in CREATED_BY_MIGRATE:
                    tx.load(shape.name, shape.columns, _rows(source, shape))
        with psycopg.connect(databases.url(name), autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        yield store
    databases.drop(name)


def _rows(source: Reader, shape: Shape) -> Iterator[tuple[Any, ...]]:
    after: tuple[Any, ...] = ()
    while rows := page(source, shape, after, PAGE):
        yield from rows
        after = key_of(shape, rows[-1])


def _cpu_ms(store: PostgresStore, listed: List, count: int) -> float:
    ((pid,),) = store.tuples("SELECT pg_backend_pid()")
    for _ in range(WARM_UP):
        listed(store)
    began = spent_s(pid) + spent_s(os.getpid())
    for _ in range(count):
        listed(store)
    return (spent_s(pid) + spent_s(os.getpid()) - began) / count * 1000


if __name__ == "__main__":
    growth()
