"""Copies all rows from one store to another, empty one; either may be SQLite or PostgreSQL.

Tables are copied after those that they refer to, in batches by primary key. The transaction of each batch records it in
the target's table ``moves``, so an interrupted move continues after the last batch. At the end, every table is read on
both sides and compared; until then the target is marked as unfinished and must not be served. The tables are read from
the migrations, so a new table needs no change here. Settings and keys are left to the caller.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from sqlite_utils import Database

from webapp.errors import Conflict
from webapp.kit.clock import DAY
from webapp.store.contract import Reader, Store, Tx
from webapp.store.migrations import SCHEMA
from webapp.store.table import Table, read_counts

PAGE, ALL = 1_000, 1 << 40
LINE_EVERY = 100 * PAGE
TWO_YEARS = 730 * DAY
MARK = ""
"""The name of the row that marks the target of an unfinished move, which must not be served."""
CREATED_BY_MIGRATE = ("data_keys", "counters", "generations")
"""The tables that `patchbay migrate` fills in a new database; the move replaces their rows."""
NOT_MOVED = frozenset({"migration_checksums", "moves"})
"""What each database records about itself."""
Values = tuple[Any, ...]
Say = Callable[[str], None]


class Shape(NamedTuple):
    """A table: its columns, its primary key, and whether its rows refer to each other."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    refers_to_itself: bool


class Checksum(NamedTuple):
    """The number of rows of a table, and their SHA-256."""

    rows: int
    sha256: str


@dataclass(frozen=True)
class Progress:
    """How much of a table was copied: its rows up to ``last_key``, in the order of the primary key."""

    name: str
    last_key: tuple[Any, ...] = ()
    copied: int = 0
    ended: bool = False


MOVES: Table[Progress] = Table("moves", Progress, key="name")


def move(source: Store, target: Store, say: Say) -> dict[str, Checksum]:
    """Copy every row of ``source`` to ``target``, which has the same schema, and return the checksums by table.

    Holds the write lock of ``source`` meanwhile. Raises :class:`Conflict` if ``target`` is not empty at the start, or
    differs from ``source`` at the end.
    """
    with source.write() as held:
        begin(target, _fingerprint(held))
        _make_months(held, target)
        for shape in shapes():
            _copy(held, target, shape, say)
        sums = {shape.name: _compared(held, target, shape, say) for shape in shapes()}
    _gather_statistics(target)
    finish(target)
    target.checkpoint()
    return sums


def _make_months(source: Reader, target: Store) -> None:
    """Create the target's monthly tables for the events, for the last two years at most."""
    ((first, last),) = source.tuples("SELECT MIN(at), MAX(at) FROM events")
    if target.months is not None and last is not None:
        target.months.make(max(first, last - TWO_YEARS), last)


def _copy(source: Reader, target: Store, shape: Shape, say: Say) -> None:
    """Copy the rows of a table that the target lacks, in one batch if its rows refer to each other."""
    reached = progress_of(target, shape.name)
    ((count,),) = source.tuples(f"SELECT COUNT(*) FROM {shape.name}")  # noqa: S608
    if reached.copied:
        say(f"{shape.name}: {reached.copied:,} of {count:,} are there already")
    while not reached.ended:
        reached = _batch(source, target, shape, reached)
        if count and (reached.ended or (reached.copied < count and reached.copied % LINE_EVERY == 0)):
            say(f"{shape.name}: {reached.copied:,} of {count:,}")


def _batch(source: Reader, target: Store, shape: Shape, reached: Progress) -> Progress:
    limit = ALL if shape.refers_to_itself else PAGE
    rows = page(source, shape, reached.last_key, limit)
    with target.write() as tx:
        if rows:
            tx.load(shape.name, shape.columns, rows)
        last_key = key_of(shape, rows[-1]) if rows else None
        return advance(tx, reached, last_key, len(rows), ended=len(rows) < limit)


def _compared(source: Reader, target: Reader, shape: Shape, say: Say) -> Checksum:
    """The checksum of a table, which is the same in both. Raises :class:`Conflict` if it differs."""
    here, there = checksum(source, shape), checksum(target, shape)
    if here != there:
        raise Conflict(
            f"The table {shape.name} did not arrive as it was ({here.rows:,} rows there, {there.rows:,} here). "
            "Something else has written to one of the two; begin again with a new, empty database."
        )
    if here.rows:
        say(f"{shape.name}: {here.rows:,} rows compared, {here.sha256[:16]}")
    return here


def _fingerprint(source: Reader) -> str:
    """A value that identifies the source, and changes whenever Patchbay is started on it."""
    (keys,) = (shape for shape in shapes() if shape.name == "data_keys")
    parts = f"{checksum(source, keys)} {sum(read_counts(source, 'generations').values())}"
    return hashlib.sha256(parts.encode()).hexdigest()


def _gather_statistics(target: Store) -> None:
    """Update PostgreSQL's planner statistics, which it would do by itself only after a while."""
    if target.folder is None:
        with target.write() as tx:
            tx.run("ANALYZE")


def total(sums: dict[str, Checksum]) -> Checksum:
    """The checksum of all tables together."""
    lines = "".join(f"{name} {count} {sha256}\n" for name, (count, sha256) in sorted(sums.items()))
    return Checksum(sum(count for count, _ in sums.values()), hashlib.sha256(lines.encode()).hexdigest())


def refuse_unfinished(store: Store) -> None:
    """Raise :class:`Conflict` if a move into ``store`` is not finished."""
    if MOVES.one(store, "name = :name", {"name": MARK}) is not None:
        raise Conflict(
            "A move into this database is not finished. Run the same `patchbay move` again, with the settings of the "
            "database that it comes from."
        )


def begin(target: Store, source: str) -> None:
    """Mark ``target`` as the target of an unfinished move from ``source``, a fingerprint, or continue that move.

    Raises :class:`Conflict` if it is not empty, or the target of another move.
    """
    with target.write() as tx:
        mark = MOVES.one(tx, "name = :name", {"name": MARK})
        if mark is None:
            _empty(tx)
            MOVES.insert(tx, Progress(MARK, (source,)))
        elif mark.last_key != (source,):
            raise Conflict(
                "An unfinished move into this database began at another source, or the source was in use since. "
                "Begin again with a new, empty database."
            )


def _empty(tx: Tx) -> None:
    """Delete the rows that a new database has. Raises :class:`Conflict` if there are others."""
    for shape in shapes():
        if shape.name not in CREATED_BY_MIGRATE and tx.tuples(f"SELECT 1 FROM {shape.name} LIMIT 1"):  # noqa: S608
            raise Conflict(
                "There is an installation in the database to move to. Name an empty one; a file patchbay.db that is no "
                "longer in use can be moved aside."
            )
    for name in CREATED_BY_MIGRATE:
        tx.run(f"DELETE FROM {name}")  # noqa: S608


def progress_of(reader: Reader, table: str) -> Progress:
    """How much of ``table`` was copied."""
    return MOVES.one(reader, "name = :name", {"name": table}) or Progress(table)


def advance(tx: Tx, progress: Progress, last_key: tuple[Any, ...] | None, copied: int, *, ended: bool) -> Progress:
    """Record that ``copied`` more rows were copied, up to ``last_key``, and return the new progress."""
    changed = replace(progress, last_key=last_key or progress.last_key, copied=progress.copied + copied, ended=ended)
    MOVES.upsert(tx, changed, keep=())
    return changed


def finish(target: Store) -> None:
    """Remove the mark, so that ``target`` may be served."""
    with target.write() as tx:
        tx.run("DELETE FROM moves")


def page(reader: Reader, shape: Shape, after: Values, limit: int) -> list[Values]:
    """The next ``limit`` rows after the primary key ``after``, or the first rows if it is empty."""
    names = [f"key_{number}" for number in range(len(after))]
    condition = f"WHERE ({', '.join(shape.key)}) > ({', '.join(f':{name}' for name in names)}) " if after else ""
    return reader.tuples(
        f"SELECT {', '.join(shape.columns)} FROM {shape.name} {condition}"  # noqa: S608
        f"ORDER BY {', '.join(shape.key)} LIMIT :limit",
        {**dict(zip(names, after, strict=True)), "limit": limit},
    )


def key_of(shape: Shape, row: Values) -> Values:
    """The primary key of ``row``."""
    return tuple(row[shape.columns.index(name)] for name in shape.key)


def checksum(reader: Reader, shape: Shape) -> Checksum:
    """The count and hash of the rows of a table. A NUL in a text counts as U+FFFD, which PostgreSQL stores instead."""
    digest, count = hashlib.sha256(), 0
    for rows in _pages(reader, shape):
        digest.update("\n".join(map(repr, rows)).replace("\\x00", "\ufffd").encode() + b"\n")
        count += len(rows)
    return Checksum(count, digest.hexdigest())


def _pages(reader: Reader, shape: Shape) -> Iterator[list[Values]]:
    after: Values = ()
    while rows := page(reader, shape, after, PAGE):
        yield rows
        after = key_of(shape, rows[-1])


@cache
def shapes() -> tuple[Shape, ...]:
    """All tables, each after those that it refers to."""
    with Database(memory=True) as model:
        for name in SCHEMA.names:
            SCHEMA.migration(name).apply(model)
        tables = {name: model.table(name) for name in model.table_names() if name not in NOT_MOVED}
        refers = {name: {key.other_table for key in table.foreign_keys} for name, table in tables.items()}
        order = TopologicalSorter({name: sorted(others - {name}) for name, others in sorted(refers.items())})
        return tuple(
            Shape(name, tuple(tables[name].columns_dict), tuple(tables[name].pks), name in refers[name])
            for name in order.static_order()
        )
