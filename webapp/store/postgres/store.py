"""PostgreSQL as the store, for installations that have outgrown one machine.

A write transaction takes one advisory lock of the database before anything else, so that writers of all machines come
one after another, each sees what those before it committed, and nothing that it reads can change under it: the same
promise that SQLite's write lock makes. ``READ COMMITTED`` is enough for that, no transaction fails for another's sake,
and none has to be run again. Threads of a process share transactions and commits (:mod:`webapp.store.turns`), so that
the lock changes hands once for many of them. Readers take no lock and wait for nobody.

Writes of the hot paths are *shared*: they hold that lock together with others of their kind and claim their rows with
``FOR NO KEY UPDATE SKIP LOCKED``, so that events, deliveries and timers of several processes are written side by side.
A process that has no more connections than writers may hold shares none, so that one is left to read on.

A connection that is lost is made again, and a read asks once more. A write whose connection is lost raises
:class:`webapp.errors.Unavailable`: it was undone, unless the connection was lost in the very moment of the commit. What
must not happen twice is therefore guarded by what it writes (an id, an attempt's number, a generation), not by whether
the caller heard of it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from webapp.errors import Unavailable, Unwritable
from webapp.kit.clock import now
from webapp.store.contract import NOTHING, Params, Row, Sizes, Tx, WrongSchema
from webapp.store.postgres import schema
from webapp.store.postgres.bell import Bell
from webapp.store.postgres.connections import UNICODE, Pool
from webapp.store.postgres.errors import translated, translation
from webapp.store.postgres.months import PostgresMonths
from webapp.store.postgres.writer import Writer, bounds
from webapp.store.turns import Turns

PATIENCE_S = 10.0
CONNECTIONS = 10
WRITING = 2
"""So many connections writers hold at most: one that is shared, and one that is not."""


class PostgresStore:
    """A :class:`webapp.store.contract.Store` in one schema of a PostgreSQL database."""

    def __init__(self, url: str, *, connections: int = CONNECTIONS, patience_s: float = PATIENCE_S) -> None:
        """Connect to ``url``, with at most so many ``connections``. Raises :class:`Unavailable` with the reason."""
        try:
            self._pool = Pool(url, connections, patience_s, bounds(patience_s))
        except (psycopg.ProgrammingError, UnicodeError):  # they repeat parts of the address, such as a password
            raise Unavailable("PATCHBAY_DATABASE_URL is not an address that libpq reads.") from None
        except psycopg.Error as error:
            raise Unavailable(f"PATCHBAY_DATABASE_URL leads to no database: {_reason(error)}.") from error
        if self._pool.encoding != UNICODE:
            self._pool.close()
            raise Unavailable(
                f"The database in PATCHBAY_DATABASE_URL keeps text as {self._pool.encoding}; it must be {UNICODE}: "
                "make another with `createdb --encoding=UTF8 --template=template0`."
            )
        self._bell, self._shares = Bell(self._pool, url), connections > WRITING
        self._writer = Writer(self._pool, connections, patience_s)
        self._turns = Turns(self._writer, translation, patience_s=patience_s)
        self._shared_writer = Writer(self._pool, connections, patience_s, shared=True)
        self._shared_turns = Turns(self._shared_writer, translation, patience_s=patience_s)
        self.months = PostgresMonths(self)

    @property
    def folder(self) -> Path | None:
        """None: several machines may share it."""
        return None

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        """Every row that ``sql`` gives."""
        with translated():
            return self._pool.read(lambda session: session.all(sql, params))

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """The first row that ``sql`` gives, if any."""
        with translated():
            return self._pool.read(lambda session: session.one(sql, params))

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Every row that ``sql`` gives, as its values in the order of the columns."""
        with translated():
            return self._pool.read(lambda session: session.tuples(sql, params))

    @contextmanager
    def write(self, *, shared: bool = False) -> Iterator[Tx]:
        """A transaction that begins with the write lock in hand. It may share its commit with others, and with
        ``shared`` the lock too."""
        beside = shared and self._shares
        turns, writer = (self._shared_turns, self._shared_writer) if beside else (self._turns, self._writer)
        with translated(), turns.block():
            yield writer.session

    def migrate(self) -> list[str]:
        """Apply what is pending inside one transaction; of several processes, one does. Then make the months that are
        missing.

        Raises :class:`WrongSchema` where this user may not.
        """
        applied = self._apply(waiting) if (waiting := self.pending()) else []
        self.months.ensure(now())
        return applied

    def _apply(self, waiting: list[str]) -> list[str]:
        try:
            with translated(), self._turns.block():
                return schema.apply(self._writer.session)
        except Unwritable as error:
            if not isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
                raise
            raise WrongSchema(
                f"{len(waiting)} migrations wait, and the user in PATCHBAY_DATABASE_URL may not apply them. Run "
                "`patchbay migrate` with the address of the role that owns the tables."
            ) from error

    def pending(self) -> list[str]:
        """The names of the migrations that were not applied yet."""
        with translated():
            return self._pool.read(schema.pending)

    def checkpoint(self) -> bool:
        """PostgreSQL folds its log by itself."""
        return True

    def shrink(self) -> bool:
        """PostgreSQL uses room again by itself."""
        return False

    def check_writable(self) -> None:
        """Raise :class:`Unavailable` where the server takes no writes, such as a standby."""
        row = self.one("SELECT current_setting('transaction_read_only') AS read_only")
        if row != {"read_only": "off"}:
            raise Unwritable.because("the database is read-only")

    def faults(self) -> list[str]:
        """The indexes that the server itself calls invalid; it checks its pages by itself."""
        rows = self.tuples("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1")
        return [f"the index {name} is not valid" for (name,) in rows]

    def sizes(self) -> Sizes:
        """The bytes of the database; its log and what is free on its disk are the server's own affair."""
        ((size,),) = self.tuples("SELECT pg_database_size(current_database())")
        return Sizes(size, 0, None)

    def server(self) -> str:
        """PostgreSQL and its version, such as ``PostgreSQL 15.8``."""
        ((version,),) = self.tuples("SELECT current_setting('server_version')")
        return f"PostgreSQL {str(version).split(' ', 1)[0]}"

    def ring(self) -> None:
        """Wake whoever listens in another process; waits for nothing."""
        self._bell.ring()

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[None]:
        """Within the block, ``heard`` is called when another process has rung."""
        return self._bell.listening(heard)

    def close(self) -> None:
        """Close every connection. Raises :class:`Unavailable` while somebody writes for too long."""
        self._bell.close()
        with self._turns.outside(), self._shared_turns.outside():
            self._pool.close()


def _reason(error: psycopg.Error) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
