"""The interface of every store, whichever database it uses. The rest of the project depends only on this module.

SQL is the portable part that SQLite and PostgreSQL share: ``:name`` parameters, ``ON CONFLICT``, ``RETURNING`` and text
ids, and one function of our own, ``holds(text, part)`` (:func:`webapp.kit.text.holds`), because SQLite's ``LOWER``
handles only ASCII. Rows are returned as dictionaries, or as tuples where a list is long. A NUL in a text may be
returned as U+FFFD. Stores translate the database's exceptions: a violated unique or foreign key raises
:class:`webapp.errors.Conflict`; a locked, full or unreachable database raises :class:`webapp.errors.Unavailable`.
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
LARGE_LOG, MIN_FREE = 128 << 20, 256 << 20
NOTHING: Params = MappingProxyType({})
IN_ORDER = "/* in order */ "
"""What SQL begins with whose parts have an index each in the order that they are read in. So it is planned once for any
values and without sorting, though the planner may expect less of another plan: many parts take longer to plan than to
read, and nobody knows beforehand how many rows a user has."""
_NEXT_PART, _PARTS_END = " /* next part */ UNION ALL ", " /* parts end */ "


class WrongSchema(Conflict):
    """The database was not created by the migrations of this version of Patchbay."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes in bytes of the database and its log, and the free space on its disk (None where it is unknown)."""

    database: int
    log: int
    free: int | None

    @property
    def log_is_large(self) -> bool:
        """Whether the log is so large that no checkpoint can have succeeded for a while."""
        return self.log >= LARGE_LOG

    @property
    def disk_is_low(self) -> bool:
        """Whether there is so little free space that the operator should free some."""
        return self.free is not None and self.free < MIN_FREE


def mebibytes(size: int) -> str:
    """``size`` bytes as text, such as ``1,024 MiB``."""
    return f"{size / (1 << 20):,.0f} MiB"


def among(values: Sequence[object]) -> tuple[str, Row]:
    """The SQL inside ``IN (…)`` that lists ``values``, and its parameters; without values, no row matches."""
    params: Row = {f"among_{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{name}" for name in params) or "NULL", params


def claiming(tx: "Tx") -> str:
    """The SQL after a ``SELECT`` of rows that ``tx`` writes next: shared transactions skip rows that others claim."""
    return " FOR NO KEY UPDATE SKIP LOCKED" if tx.shared else ""


def merging(parts: Sequence[str], order: str, limit: int) -> str:
    """The SQL of the first ``limit`` rows of several queries in ``order``, in which an index has each one's rows.

    ``order`` names columns of the results. A database that merges parts by itself reads one row of each at a time; for
    another, :func:`limited` writes the limit into each.
    """
    return f"{IN_ORDER}{_NEXT_PART.join(parts)}{_PARTS_END}ORDER BY {order} LIMIT {limit}"


def limited(sql: str) -> str:
    """``sql`` with each part that :func:`merging` put into it limited like the whole; other SQL as it is."""
    whole, end, rest = sql.partition(_PARTS_END)
    if not end:
        return sql
    before, mark, parts = whole.partition(IN_ORDER)
    ones = (f"SELECT * FROM ({part} {rest}) AS part" for part in parts.split(_NEXT_PART))  # noqa: S608
    return f"{before}{mark}{' UNION ALL '.join(ones)} {rest}"


class Reader(Protocol):
    """Reads rows from a database."""

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        """Every row of the query ``sql``."""
        ...

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """The first row of the query ``sql``, or None."""
        ...

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Every row of the query ``sql`` as a tuple of its columns, at half the cost of a dictionary."""
        ...


class NotShared(Exception):
    """The work does not fit a shared transaction: it is rolled back and repeated in an exclusive one."""


class Tx(Reader, Protocol):
    """A transaction that holds the write lock from its start, so that what it reads cannot change until it ends.

    A *shared* transaction holds the lock together with other shared ones in other processes, and excludes all others.
    So it writes only what none of them waits for: new rows, rows that it has claimed with :func:`claiming`, and sums
    (:meth:`add`). Everything else that it reads is written only by transactions that are not shared.
    """

    @property
    def shared(self) -> bool:
        """Whether other shared transactions may write meanwhile; always False where the database cannot do that."""
        ...

    def add(self, sql: str, params: Params, by: int) -> None:
        """Run ``sql``, which adds ``:by`` to the row that ``params`` select.

        A shared transaction runs these statements last, once for each row and in a fixed order, to avoid deadlocks.
        """
        ...

    def run(self, sql: str, params: Params = NOTHING) -> int:
        """Execute ``sql`` and return the number of rows that it changed."""
        ...

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert many rows as fast as the database can; they may refer to each other."""
        ...


class Store(Reader, Protocol):
    """A database. Safe to share between the threads of a process, but not across a fork."""

    @property
    def folder(self) -> Path | None:
        """The folder of its file; None for a server, which several machines may share."""
        ...

    @property
    def months(self) -> "Months | None":
        """Its monthly tables; None where it deletes row by row."""
        ...

    def write(self, *, shared: bool = False) -> AbstractContextManager[Tx]:
        """A transaction, committed durably when the block ends and rolled back when it raises. It cannot be nested.

        No transaction may stay open during network input or output, a component's run or a nested call of the API.
        """
        ...

    def migrate(self) -> list[str]:
        """Apply all pending migrations or none, and return the names of those applied.

        Raises :class:`WrongSchema` for a database that this version cannot migrate.
        """
        ...

    def pending(self) -> list[str]:
        """The names of the migrations that :meth:`migrate` would apply. Raises :class:`WrongSchema`."""
        ...

    def checkpoint(self) -> bool:
        """Checkpoint the write-ahead log, where there is one. Returns False while a reader prevents it.

        Only the worker calls this.
        """
        ...

    def shrink(self) -> bool:
        """Return free space in the database's file to the disk, where there is much. Returns whether there was.

        Only the worker calls this.
        """
        ...

    def check_writable(self) -> None:
        """Raise :class:`webapp.errors.Unavailable` if nothing can be written; writes only after an earlier failure."""
        ...

    def faults(self) -> list[str]:
        """The faults that the database finds in itself, in its own words; it reads the whole database."""
        ...

    def server(self) -> str:
        """The name and version of the database server, or "" for an embedded database."""
        ...

    def sizes(self) -> "Sizes":
        """How much disk space it uses, and how much is free."""
        ...

    def notify(self) -> None:
        """Wake the listeners in other processes, if they are on other machines. Call it after the commit.

        Returns at once.
        """
        ...

    def listen(self, notified: Callable[[], None]) -> AbstractContextManager[None]:
        """Within the block, call ``notified`` when another process notifies, and sometimes without a reason."""
        ...

    def close(self) -> None:
        """Close every connection. The store cannot be used afterwards."""
        ...
