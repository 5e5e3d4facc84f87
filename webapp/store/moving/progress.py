"""How far a move has come (table ``moves`` of its target), written in the transaction of the rows that it tells of.

The row ``""`` is the mark of a move that is not finished: its database is not to be served.
"""

from dataclasses import dataclass, replace
from typing import Any

from webapp.errors import Conflict
from webapp.store.contract import Reader, Store, Tx
from webapp.store.moving.shapes import shapes
from webapp.store.table import Table

MARK = ""
CLAIMED = ("data_keys", "counters", "generations")
"""What `patchbay migrate` writes into a new database: worth nothing while nothing else is there."""


@dataclass(frozen=True)
class Progress:
    """What of one table is in the target already: rows up to ``last_key``, in the order of the primary key."""

    name: str
    last_key: tuple[Any, ...] = ()
    copied: int = 0
    ended: bool = False


MOVES: Table[Progress] = Table("moves", Progress, key="name")


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


def of(reader: Reader, table: str) -> Progress:
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
