"""What every store does, whichever database is behind it. The rest of the project knows only this.

SQL is the portable part that SQLite and PostgreSQL share: ``:name`` parameters, ``ON CONFLICT``, ``RETURNING``,
text ids. Every store has one function of ours: ``holds(text, part)``, :func:`webapp.kit.text.holds`, since
``LOWER`` of SQLite only knows ASCII. Rows come back as dictionaries, or as tuples where a list is long. A NUL in a
text may come back as U+FFFD. A database's own exceptions stop here: a broken unique or foreign key raises
:class:`webapp.errors.Conflict`; a locked, full or unreachable database :class:`webapp.errors.Unavailable`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from webapp.errors import Conflict

if TYPE_CHECKING:
    from webapp.store.months import Months

Row = dict[str, Any]
Params = Mapping[str, Any]
LARGE_LOG, LITTLE_FREE = 128 << 20, 256 << 20
NOTHING: Params = MappingProxyType({})


class WrongSchema(Conflict):
    """The database was not made with the migrations of this version of Patchbay."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes: of the database, of its log, and what is free where it stands (None where that cannot be known)."""

    database: int
    log: int
    free: int | None

    @property
    def log_is_large(self) -> bool:
        """Whether the log cannot have been folded for a while."""
        return self.log >= LARGE_LOG

    @property
    def room_is_short(self) -> bool:
        """Whether there is so little room that somebody should make some."""
        return self.free is not None and self.free < LITTLE_FREE


def megabytes(size: int) -> str:
    """A number of bytes for people, such as ``1,024 MB``."""
    return f"{size / (1 << 20):,.0f} MB"


def among(values: Sequence[object]) -> tuple[str, Row]:
    """What stands inside of ``IN (…)`` for ``values``, and its parameters; nothing is among none."""
    params: Row = {f"among_{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{name}" for name in params) or "NULL", params


def claiming(tx: "Tx") -> str:
    """What stands behind a ``SELECT`` of rows that ``tx`` writes next: a shared one leaves out what another claims."""
    return " FOR NO KEY UPDATE SKIP LOCKED" if tx.shared else ""


class Reader(Protocol):
    """Reads rows."""

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        """Every row that ``sql`` gives."""
        ...

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """The first row that ``sql`` gives, if any."""
        ...

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Every row that ``sql`` gives, as its values in the order of the columns: half the cost of a dictionary."""
        ...


class NotShared(Exception):
    """What has to be written does not fit a shared transaction: it is undone, and run again in one of its own."""


class Tx(Reader, Protocol):
    """A transaction that holds the write lock from its first moment; what it reads cannot change under it.

    A *shared* one holds it together with others of its kind, in other processes, and keeps all others out. So it writes
    what no other of them waits for: new rows, rows that it has claimed by :func:`claiming`, and sums (:meth:`add`).
    Whatever else it reads is written by those that are not shared, so it cannot change either.
    """

    @property
    def shared(self) -> bool:
        """Whether others may write meanwhile. Where the database cannot do that, none is."""
        ...

    def add(self, sql: str, params: Params, by: int) -> None:
        """Run ``sql``, which adds ``:by`` to the row that ``params`` name.

        A shared transaction does so last, once for each row and in one order, so that no two wait for each other.
        """
        ...

    def run(self, sql: str, params: Params = NOTHING) -> int:
        """Execute ``sql``; how many rows it touched."""
        ...

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows at once, as fast as the database takes them; they may refer to each other."""
        ...


class Store(Reader, Protocol):
    """One database. Safe to share between the threads of one process, never across a fork."""

    @property
    def folder(self) -> Path | None:
        """Where its file is, if all its users are on this machine; None where several machines share it."""
        ...

    @property
    def months(self) -> "Months | None":
        """What it keeps by months; None where it deletes row by row."""
        ...

    def write(self, *, shared: bool = False) -> AbstractContextManager[Tx]:
        """A transaction: committed durably when the block ends, undone when it raises. Not nested.

        No transaction may stay open across a socket, a component's run or a nested call of the API.
        """
        ...

    def migrate(self) -> list[str]:
        """Bring the schema up to date, all or nothing; the names of the migrations that were applied.

        Raises :class:`WrongSchema` where that cannot be done.
        """
        ...

    def pending(self) -> list[str]:
        """The names of the migrations that :meth:`migrate` would apply. Raises :class:`WrongSchema`."""
        ...

    def checkpoint(self) -> bool:
        """Fold the log into the database, where there is such a thing; False while a reader prevents that.
        Only the worker calls this."""
        ...

    def shrink(self) -> bool:
        """Give back to the disk some of the room that deleted rows have left, where it is much; whether it was.
        Only the worker calls this."""
        ...

    def check_writable(self) -> None:
        """Raise :class:`webapp.errors.Unavailable` where nothing can be written, without writing where all is well."""
        ...

    def faults(self) -> list[str]:
        """What is wrong with the database itself, in its own words; it reads all of it."""
        ...

    def server(self) -> str:
        """The database server and its version; "" where there is none."""
        ...

    def sizes(self) -> "Sizes":
        """How much room it takes, and how much is left."""
        ...

    def notify(self) -> None:
        """Wake whoever listens in another process that shares the store, where others cannot be woken otherwise.

        Returns at once; call it after the commit.
        """
        ...

    def listen(self, notified: Callable[[], None]) -> AbstractContextManager[None]:
        """Within the block, call ``notified`` when another process notifies, and now and then for nothing."""
        ...

    def close(self) -> None:
        """Close every connection. The store cannot be used afterwards."""
        ...
