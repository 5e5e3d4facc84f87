"""Carrying everything from one store over into another that is empty, of whichever kind the two are.

Tables go after those that they refer to, in batches by primary key. Each batch is recorded in the target in its own
transaction (:mod:`progress`), so a move that was interrupted goes on behind the last one. At the end every table is
read again on both sides and compared; until then the target says that it is not to be served.

How far a move has come (table ``moves`` of its target), written in the transaction of the rows that it tells of.

The row ``""`` is the mark of a move that is not finished: its database is not to be served.

Rows of a table in the order of its primary key: page after page, and as one checksum that every store agrees on.

The tables that a move carries over, read from the migrations themselves: a new table needs no line here.
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

TWO_YEARS = 730 * DAY
MARK = ""
CLAIMED = ("data_keys", "counters", "generations")
Values = tuple[Any, ...]
PAGE, ALL = 1_000, 1 << 40
STAYING = frozenset({"migration_checksums", "moves"})


LINE_EVERY = 100 * PAGE
Say = Callable[[str], None]


class Shape(NamedTuple):
    """A table: its columns, those of its primary key, and whether its rows refer to each other."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    refers_to_itself: bool


class Sum(NamedTuple):
    """How many rows a table has, and their SHA-256."""

    rows: int
    sha256: str


@dataclass(frozen=True)
class Progress:
    """What of one table is in the target already: rows up to ``last_key``, in the order of the primary key."""

    name: str
    last_key: tuple[Any, ...] = ()
    copied: int = 0
    ended: bool = False


MOVES: Table[Progress] = Table("moves", Progress, key="name")


def move(source: Store, target: Store, say: Say) -> dict[str, Sum]:
    """Copy every row of ``source``, and compare; what each table holds. Both have the same schema.

    Nobody else writes to ``source`` meanwhile, since its write lock is held. Raises :class:`Conflict` where
    ``target`` is not empty, or is not the same as ``source`` in the end.
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
    """Let events come into their months, where the target has such, those of the last two years at most."""
    ((first, last),) = source.tuples("SELECT MIN(at), MAX(at) FROM events")
    if target.months is not None and last is not None:
        target.months.make(max(first, last - TWO_YEARS), last)


def total(sums: dict[str, Sum]) -> Sum:
    """All tables together."""
    lines = "".join(f"{name} {count} {sha256}\n" for name, (count, sha256) in sorted(sums.items()))
    return Sum(sum(count for count, _ in sums.values()), hashlib.sha256(lines.encode()).hexdigest())


def _copy(source: Reader, target: Store, shape: Shape, say: Say) -> None:
    """Copy what the target lacks of a table; one whose rows refer to each other goes at once."""
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


def _compared(source: Reader, target: Reader, shape: Shape, say: Say) -> Sum:
    """What both hold of a table. Raises :class:`Conflict` where that is not the same."""
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
    """What changes when the source is another one, or was opened to be used."""
    (keys,) = (shape for shape in shapes() if shape.name == "data_keys")
    parts = f"{checksum(source, keys)} {sum(read_counts(source, 'generations').values())}"
    return hashlib.sha256(parts.encode()).hexdigest()


def _gather_statistics(target: Store) -> None:
    """Let PostgreSQL plan by what it has now; it would do so by itself in a while."""
    if target.folder is None:
        with target.write() as tx:
            tx.run("ANALYZE")


"""What `patchbay migrate` writes into a new database: worth nothing while nothing else is there."""


def begin(target: Store, source: str) -> None:
    """Mark ``target`` as the end of a move from what is called ``source``, or go on with that move.

    Raises :class:`Conflict` where there is anything else in it.
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


def progress_of(reader: Reader, table: str) -> Progress:
    """What of ``table`` is in the target."""
    return MOVES.one(reader, "name = :name", {"name": table}) or Progress(table)


def advance(tx: Tx, progress: Progress, last_key: tuple[Any, ...] | None, copied: int, *, ended: bool) -> Progress:
    """The ``progress`` after so many more rows, the last of which has ``last_key``."""
    changed = replace(progress, last_key=last_key or progress.last_key, copied=progress.copied + copied, ended=ended)
    MOVES.upsert(tx, changed, keep=())
    return changed


def finish(target: Store) -> None:
    """Let ``target`` be served."""
    with target.write() as tx:
        tx.run("DELETE FROM moves")


def refuse_unfinished(store: Store) -> None:
    """Raise :class:`Conflict` where a move into ``store`` is not finished."""
    if MOVES.one(store, "name = :name", {"name": MARK}) is not None:
        raise Conflict(
            "A move into this database is not finished. Run the same `patchbay move` again, with the settings of the "
            "database that it comes from."
        )


def _empty(tx: Tx) -> None:
    """Clear what a new database has. Raises :class:`Conflict` where there is more."""
    for shape in shapes():
        if shape.name not in CLAIMED and tx.tuples(f"SELECT 1 FROM {shape.name} LIMIT 1"):  # noqa: S608
            raise Conflict(
                "There is an installation in the database to move to. Name an empty one; a file patchbay.db that is no "
                "longer in use can be moved aside."
            )
    for name in CLAIMED:
        tx.run(f"DELETE FROM {name}")  # noqa: S608


def page(reader: Reader, shape: Shape, after: Values, limit: int) -> list[Values]:
    """The next ``limit`` rows after the primary key ``after``; from the first where that is empty."""
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


def checksum(reader: Reader, shape: Shape) -> Sum:
    """Count and sum up the table. A NUL in a text counts as the U+FFFD that PostgreSQL keeps in its place."""
    digest, count = hashlib.sha256(), 0
    for rows in _pages(reader, shape):
        digest.update("\n".join(map(repr, rows)).replace("\\x00", "\ufffd").encode() + b"\n")
        count += len(rows)
    return Sum(count, digest.hexdigest())


def _pages(reader: Reader, shape: Shape) -> Iterator[list[Values]]:
    after: Values = ()
    while rows := page(reader, shape, after, PAGE):
        yield rows
        after = key_of(shape, rows[-1])


"""What each database says of itself."""


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
