"""The embedded store: one SQLite file, through sqlite-utils.

WAL, one write connection in each process and ``BEGIN IMMEDIATE`` on it: under several processes, transactions that read
and then write fail with "database is locked" when they begin deferred, and wait their turn this way.
``synchronous=FULL``, so that what was accepted survives a power loss; ``secure_delete``, so that no free page keeps
what was overwritten or deleted. Reads use a small pool of connections and never wait for a writer. Threads share
commits (:mod:`webapp.store.turns`).

Automatic checkpoints are off, because SQLite before 3.51.3 can corrupt the journal's reset under two checkpointers.
Only the worker runs them, or while there is none whoever finds the log too large. While a reader keeps the log from
being folded, transactions begin further and further apart, so that more work shares each commit and the log stays
bounded.

A backup is a whole copy of the file, made while it is in use (:func:`copy_database`) and inspected before it takes its
place (:func:`inspect_copy`).
"""

import logging
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from webapp.errors import Conflict, Damaged, Invalid, Unavailable, Unwritable
from webapp.kit.text import holds
from webapp.store import presence
from webapp.store.contract import NOTHING, Params, Row, Sizes, Tx, WrongSchema
from webapp.store.migrations import SCHEMA
from webapp.store.table import add_to_counts
from webapp.store.turns import Turns

log = logging.getLogger(__name__)
BUSY_TIMEOUT_S = 10.0
COPY_TIMEOUT_S = 30.0
CHECKPOINT_S = 0.1
"""How long a checkpoint keeps writers waiting for readers of the log."""
NEARLY_FOLDED = 1_000
LARGE_LOG, HUGE_LOG = 96 << 20, 224 << 20
LONGEST_PAUSE_S = 1.0
NO_ROOM = 128 << 10
NO_ROOM_LEFT = "the disk is full"
SPARE_PAGES, SPARE_SHARE = 4_096, 5
"""So many pages, or one in so many, may be free in the file: the next writes use them."""
PAGES_AT_ONCE = 2_000
INCREMENTAL = 2
SHRINKING = f"auto_vacuum={INCREMENTAL}"
"""The pragma for a file that is empty, or is about to be written anew."""
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "wal_autocheckpoint=0", "secure_delete=ON")
_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_CAUSES = {
    sqlite3.SQLITE_FULL: NO_ROOM_LEFT,
    sqlite3.SQLITE_IOERR: "the disk failed to read or write",
    sqlite3.SQLITE_READONLY: "the database or its folder is read-only",
    sqlite3.SQLITE_PERM: "the database may not be written by this user",
    sqlite3.SQLITE_CANTOPEN: "the database cannot be opened",
}


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
    """A :class:`webapp.store.contract.Store` in one SQLite file, which is small enough to delete from row by row."""

    months = None

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, alone: bool = False) -> None:
        """Open ``path``, creating it when it is absent. Raises :class:`Unavailable`.

        ``alone``: the caller holds :func:`webapp.store.presence.alone`, so there is no presence to announce.
        """
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._busy_timeout_s = busy_timeout_s
        self._idle: deque[Connection] = deque()
        self._write_health = WriteHealth(path.parent, self._has_room)
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
            self._write_health.failed(error)
            raise
        if self._write_health.error is not None:
            self._write_health.succeeded()

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
        """Give free room in the file back to the disk, where there is much of it; whether there was."""
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
            self._write_health.failed(error)
            raise error
        if self._write_health.error is not None:
            with self.write() as tx:
                add_to_counts(tx, ["probes"], 1)

    def faults(self) -> list[str]:
        """What is wrong with the file itself, in SQLite's words; reads all of it. Raises :class:`Damaged`."""
        with self._reader() as connection:
            lines = [line for (line,) in connection.tuples("PRAGMA quick_check(3)")]
        return [] if lines == ["ok"] else lines

    def server(self) -> str:
        """Nothing: this process is the server."""
        return ""

    def sizes(self) -> Sizes:
        """The bytes of the file, of its log and of the free disk."""
        disk = os.statvfs(self.folder)
        return Sizes(_size(self._path), _size(self._log), disk.f_bavail * disk.f_frsize)

    def notify(self) -> None:
        """Nothing to do: processes on one machine wake each other by themselves."""

    def listen(self, notified: Callable[[], None]) -> AbstractContextManager[None]:
        """Nothing to hear: processes on one machine wake each other by themselves."""
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


class WriteHealth:
    """Whether ``folder`` can be written, as far as this process knows from writing: ``error`` says why it cannot.

    One line is logged when writing begins to fail, and one when it works again. On a full disk a small write may
    succeed, so it only works again where ``has_room`` says so, too.
    """

    def __init__(self, folder: Path, has_room: Callable[[], bool]) -> None:
        self._folder, self._has_room = folder, has_room
        self._since = 0.0
        self.error: Unwritable | Damaged | None = None

    def failed(self, error: Unwritable | Damaged) -> None:
        """Note that writing failed with ``error``."""
        if self.error is None:
            self._since = time.monotonic()
            cause = error.cause if isinstance(error, Unwritable) else error.message
            log.error(
                "Nothing can be written in %s: %s. What was accepted is kept; the work goes on by itself afterwards.",
                self._folder,
                cause.rstrip("."),
            )
        self.error = error

    def succeeded(self) -> None:
        """Note that writing succeeded."""
        if self.error is not None and self._has_room():
            self.error = None
            log.warning("%s can be written again, after %.0f s.", self._folder, time.monotonic() - self._since)


def connect(path: Path, timeout_s: float, *first: str) -> Connection:
    """A connection to ``path`` that waits up to ``timeout_s`` seconds for a lock; ``first`` are pragmas before ours."""
    return Connection(open_database(path, timeout_s, *first))


def open_database(path: Path, timeout_s: float, *first: str) -> Database:
    """Open ``path``, to wait up to ``timeout_s`` seconds for a lock; ``first`` are pragmas before ours."""
    connection = sqlite3.connect(
        path, timeout=timeout_s, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    try:
        connection.create_function("holds", 2, holds, deterministic=True)
        db = Database(connection, recursive_triggers=False, execute_plugins=False)
        for pragma in (*first, *PRAGMAS):
            db.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return db


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


def translation(error: BaseException) -> Unavailable | Conflict | None:
    """Our error for one of the database's; None where it is a fault of ours."""
    if isinstance(error, sqlite3.IntegrityError):
        return Conflict()
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _PASSING:
        return Unavailable()
    if code in _DAMAGED:
        return Damaged()
    return Unwritable.because(_CAUSES[code]) if code in _CAUSES else None


def is_busy(error: BaseException) -> bool:
    """Whether another process has the lock just now."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_BUSY


def copy_database(database: Path, target: Path) -> None:
    """Copy ``database`` as of one moment to ``target``, readable only by its owner; others keep reading and writing.

    ``VACUUM INTO`` leaves behind what was deleted, such as keys that were rotated away. Raises
    :class:`Unavailable`, ``FileExistsError``.
    """
    target.touch(mode=0o600, exist_ok=False)
    with _connected(database, "rw") as connection:
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.OperationalError as error:
            raise Unavailable(f"The database could not be copied ({error}); make room on the disk.") from error


def inspect_copy(database: Path) -> None:
    """Raise :class:`Invalid` unless ``database`` is whole and its schema one that this version knows."""
    try:
        with _connected(database, "ro") as connection:
            verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            db = Database(connection, execute_plugins=False)
            applied = SCHEMA.applied(db)
            if verdict == "ok":
                SCHEMA.check(db)
    except WrongSchema as error:
        raise Invalid(f"The backup cannot be used. {error.message}") from error
    except sqlite3.DatabaseError as error:
        raise Invalid("The backup is damaged: its database cannot be read. Use another backup.") from error
    if verdict != "ok":
        raise Invalid("The backup is damaged: its database is not consistent. Use another backup.")
    if not applied:
        raise Invalid("The backup holds no database of Patchbay. Use another file.")


@contextmanager
def _connected(database: Path, mode: str) -> Iterator[sqlite3.Connection]:
    uri = f"{database.absolute().as_uri()}?mode={mode}"
    with closing(sqlite3.connect(uri, uri=True, timeout=COPY_TIMEOUT_S, isolation_level=None)) as connection:
        yield connection
