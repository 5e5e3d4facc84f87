"""The embedded store: SQLite through sqlite-utils.

WAL, one write connection in each process and ``BEGIN IMMEDIATE`` on it: read-then-write transactions that begin
deferred fail with "database is locked" under several processes, these wait their turn. ``synchronous=FULL``, so
that what was accepted survives power loss; ``secure_delete``, so that no free page keeps what was overwritten or
deleted. Reads use a small pool of connections and never wait for a writer. Threads share commits (:mod:`turns`).

Automatic checkpoints are off: the worker alone runs them, or while there is none whoever finds the log too large,
because SQLite before 3.51.3 can corrupt the journal's reset under two checkpointers. Where a reader keeps the log from
being folded for long, transactions begin further and further apart, so that more work shares each commit and the log
stays bounded.
"""

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from webapp.errors import Damaged, Unwritable
from webapp.store import presence
from webapp.store.contract import NOTHING, Params, Row, Sizes, Tx
from webapp.store.migrations import SCHEMA
from webapp.store.sqlite_errors import NO_ROOM_LEFT, is_busy, translation
from webapp.store.sqlite_file import open_database
from webapp.store.table import add_to_counts
from webapp.store.trouble import Trouble
from webapp.store.turns import Turns

BUSY_TIMEOUT_S = 10.0
CHECKPOINT_S = 0.1
"""So long a checkpoint keeps writers waiting for those who still read the log."""
NEARLY_FOLDED = 1_000
LARGE_LOG, HUGE_LOG = 96 << 20, 224 << 20
LONGEST_PAUSE_S = 1.0
NO_ROOM = 128 << 10
SPARE_PAGES, SPARE_SHARE = 4_096, 5
"""So many pages, or one in so many, may stand free in the file: what is written next takes them."""
PAGES_AT_ONCE = 2_000
INCREMENTAL = 2
SHRINKING = f"auto_vacuum={INCREMENTAL}"
"""Said of a file before anything stands in it, or before it is written anew."""


class Connection:
    """One connection as a :class:`webapp.store.contract.Tx`."""

    shared = False

    def __init__(self, db: Database) -> None:
        self.db = db

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        cursor = self.db.execute(sql, dict(params))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        rows = self.all(sql, params)
        return rows[0] if rows else None

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, dict(params)).fetchall()

    def run(self, sql: str, params: Params = NOTHING) -> int:
        return self.db.execute(sql, dict(params)).rowcount

    def add(self, sql: str, params: Params, by: int) -> None:
        self.db.execute(sql, {**params, "by": by})

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self.db.execute("PRAGMA defer_foreign_keys = ON")
        marks = ", ".join("?" * len(columns))
        self.db.conn.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608


class SQLiteStore:
    """A :class:`webapp.store.contract.Store` in one SQLite file, which is small enough to forget row by row."""

    months = None

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, alone: bool = False) -> None:
        """Open ``path``, creating it when it is absent. Raises :class:`Unavailable`.

        ``alone``: the caller holds :func:`webapp.store.presence.alone`, so there is no presence to announce.
        """
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._busy_timeout_s = busy_timeout_s
        self._idle: deque[Connection] = deque()
        self._trouble = Trouble(path.parent, self._has_room)
        self._closed = False
        self._presence = None if alone else presence.arrive(path)
        try:
            if not path.exists():
                path.touch(mode=0o600)  # the write-ahead log takes over the mode
            with translated():
                if not _size(path):
                    connect(path, busy_timeout_s, SHRINKING).db.close()
                self._writer = connect(self._path, self._busy_timeout_s)
                self._writer.db.execute("PRAGMA busy_timeout = 0")  # Turns tries again, and more often
        except BaseException:
            self._leave()
            raise
        self._turns = Turns(
            self._writer.db.conn, translation, is_busy, patience_s=busy_timeout_s, pause_s=self._pause_s
        )

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self._path.parent

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        """Every row that ``sql`` gives."""
        with self._reader() as connection:
            return connection.all(sql, params)

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """The first row that ``sql`` gives, if any."""
        with self._reader() as connection:
            return connection.one(sql, params)

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Every row that ``sql`` gives, as its values in the order of the columns."""
        with self._reader() as connection:
            return connection.tuples(sql, params)

    @contextmanager
    def write(self, *, shared: bool = False) -> Iterator[Tx]:
        """A transaction that begins with the write lock in hand. It may share its commit with others."""
        try:
            with translated(), self._turns.block():
                yield self._writer
        except (Unwritable, Damaged) as error:
            self._trouble.begin(error)
            raise
        if self._trouble.error is not None:
            self._trouble.look()

    def migrate(self) -> list[str]:
        """Apply what is pending inside one transaction, so that an interrupted migration leaves no trace."""
        with self._reader() as connection:
            if SCHEMA.is_recorded(connection.db):
                SCHEMA.check(connection.db)
                return []
        with self.write():
            return SCHEMA.apply(self._writer.db)

    def pending(self) -> list[str]:
        """The names of the migrations that were not applied yet."""
        with self._reader() as connection:
            SCHEMA.check(connection.db, whole=True)
            return SCHEMA.pending(connection.db)

    def checkpoint(self) -> bool:
        """Fold the write-ahead log into the database as far as readers allow, and shorten it; whether it is empty.

        Most is folded while others write. Only the rest keeps them waiting.
        """
        with translated(), closing(connect(self._path, CHECKPOINT_S).db) as db:
            for _ in range(4):
                _, frames, folded = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if frames - folded <= NEARLY_FOLDED:
                    busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    return not busy
        return False

    def shrinks(self) -> bool:
        """Whether the file gives room back to the disk; one of an earlier version does after :meth:`compact`."""
        return self._pragma("auto_vacuum") == INCREMENTAL

    def shrink(self) -> bool:
        """Give some of the room that is free in the file back, where there is much of it; whether there was."""
        if not self.shrinks() or self._pragma("freelist_count") <= max(
            SPARE_PAGES, self._pragma("page_count") // SPARE_SHARE
        ):
            return False
        with translated(), closing(connect(self._path, self._busy_timeout_s).db) as db:
            db.conn.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")  # execute() would end after a page
        return True

    def compact(self) -> None:
        """Write the file anew, without what is free in it, so that it :meth:`shrinks` from then on.

        Takes as much room again until it is done. The caller is :func:`webapp.store.presence.alone`.
        """
        with translated(), closing(connect(self._path, self._busy_timeout_s, SHRINKING).db) as db:
            db.execute("VACUUM")
        self.checkpoint()

    def check_writable(self) -> None:
        """Raise :class:`Unavailable` where nothing can be written; tries it only where it was so before."""
        if not self._has_room():
            error = Unwritable.because(NO_ROOM_LEFT)
            self._trouble.begin(error)
            raise error
        if self._trouble.error is not None:
            with self.write() as tx:
                add_to_counts(tx, ["probes"], 1)

    def faults(self) -> list[str]:
        """What is wrong with the file itself, in SQLite's words; reads all of it. Raises :class:`Damaged`."""
        with self._reader() as connection:
            lines = [line for (line,) in connection.tuples("PRAGMA quick_check(3)")]
        return [] if lines == ["ok"] else lines

    def server(self) -> str:
        """Nothing but this process."""
        return ""

    def sizes(self) -> Sizes:
        """The bytes of the file, of its log and of the free disk."""
        disk = os.statvfs(self.folder)
        return Sizes(_size(self._path), _size(self._log), disk.f_bavail * disk.f_frsize)

    def ring(self) -> None:
        """Those on one machine wake each other by themselves."""

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[None]:  # nobody rings
        """Nobody rings here."""
        return nullcontext()

    def close(self) -> None:
        """Close every connection. Raises :class:`Unavailable` while somebody writes for too long."""
        with self._turns.outside():
            self._closed = True
            self._writer.db.close()
            while self._idle:
                self._idle.pop().db.close()
            self._leave()

    def _pause_s(self) -> float:
        """How far apart transactions begin: the larger the log is, the fewer of them. Without a worker it is folded."""
        excess = _size(self._log) - LARGE_LOG
        if excess <= 0:
            return 0.0
        with presence.vacant_place(self._path) as vacant:
            if vacant and self.checkpoint():
                return 0.0
        return LONGEST_PAUSE_S * min(excess / (HUGE_LOG - LARGE_LOG), 1.0) ** 2

    def _pragma(self, name: str) -> int:
        with self._reader() as connection:
            ((value,),) = connection.tuples(f"PRAGMA {name}")
        return int(value)

    def _has_room(self) -> bool:
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize >= NO_ROOM

    def _leave(self) -> None:
        if self._presence is not None:
            os.close(self._presence)
            self._presence = None

    @contextmanager
    def _reader(self) -> Iterator[Connection]:
        with translated():
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = connect(self._path, self._busy_timeout_s)
            try:
                yield connection
            finally:
                if self._closed:
                    connection.db.close()
                else:
                    self._idle.append(connection)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def connect(path: Path, timeout_s: float, *first: str) -> Connection:
    """A connection to ``path`` that waits up to ``timeout_s`` seconds for a lock; ``first`` are pragmas before ours."""
    return Connection(open_database(path, timeout_s, *first))


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's exceptions into ours. One that says that our SQL is wrong stays what it is."""
    try:
        yield
    except sqlite3.Error as error:
        ours = translation(error)
        if ours is None:
            raise
        raise ours from error
