"""Carrying everything from one store over into another that is empty, of whichever kind the two are.

Tables go after those that they refer to, in batches by primary key. Each batch is recorded in the target in its own
transaction (:mod:`progress`), so a move that was interrupted goes on behind the last one. At the end every table is
read again on both sides and compared; until then the target says that it is not to be served.
"""

import hashlib
from collections.abc import Callable

from webapp.errors import Conflict
from webapp.kit.clock import DAY
from webapp.store.contract import Reader, Store
from webapp.store.moving import progress
from webapp.store.moving.pages import ALL, PAGE, Sum, checksum, key_of, page
from webapp.store.moving.progress import Progress
from webapp.store.moving.shapes import Shape, shapes
from webapp.store.table import read_counts

TWO_YEARS = 730 * DAY
LINE_EVERY = 100 * PAGE
Say = Callable[[str], None]


def move(source: Store, target: Store, say: Say) -> dict[str, Sum]:
    """Copy every row of ``source``, and compare; what each table holds. Both have the same schema.

    Nobody else writes to ``source`` meanwhile, since its write lock is held. Raises :class:`Conflict` where
    ``target`` is not empty, or is not the same as ``source`` in the end.
    """
    with source.write() as held:
        progress.begin(target, _fingerprint(held))
        _make_months(held, target)
        for shape in shapes():
            _copy(held, target, shape, say)
        sums = {shape.name: _compared(held, target, shape, say) for shape in shapes()}
    _gather_statistics(target)
    progress.finish(target)
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
    reached = progress.of(target, shape.name)
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
        return progress.advance(tx, reached, last_key, len(rows), ended=len(rows) < limit)


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
