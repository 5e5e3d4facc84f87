"""What every store does, whichever database stands behind it. The rest of the project knows only this.

SQL is the portable part that SQLite and PostgreSQL share: ``:name`` parameters, ``ON CONFLICT``, ``RETURNING``,
text ids. One function of ours stands in every store: ``holds(text, part)``, :func:`webapp.kit.text.holds`, since
``LOWER`` of SQLite knows ASCII alone. Rows come back as dictionaries, or as tuples where a list is long. A database's
own exceptions stop here: a broken unique or foreign key raises :class:`webapp.errors.Conflict`; a locked, full or
unreachable database :class:`webapp.errors.Unavailable`.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from webapp.errors import Conflict

Row = dict[str, Any]
Params = Mapping[str, Any]
NOTHING: Params = MappingProxyType({})


class WrongSchema(Conflict):
    """The database was not made with the migrations of this version of Patchbay."""


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


class Tx(Reader, Protocol):
    """A transaction that holds the write lock from its first moment; what it reads cannot change under it."""

    def run(self, sql: str, params: Params = NOTHING) -> int:
        """Execute ``sql`` and tell how many rows it touched."""
        ...


class Store(Reader, Protocol):
    """One database. Safe to share between the threads of one process, never across a fork."""

    @property
    def folder(self) -> Path | None:
        """Where it stands, if all who use it are on this machine; None where several machines share it."""
        ...

    def write(self) -> AbstractContextManager[Tx]:
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

    def checkpoint(self) -> None:
        """Fold the journal into the database, where there is such a thing. The worker alone calls this."""
        ...

    def close(self) -> None:
        """Give back every connection. The store cannot be used afterwards."""
        ...
