"""The embedded store: one SQLite file, through sqlite-utils.

It uses WAL, with one write connection in each process and ``BEGIN IMMEDIATE``: transactions of several processes that
read and then write would fail with "database is locked" if they began deferred, and now wait instead.
``synchronous=FULL`` makes commits survive a power loss, and ``secure_delete`` erases deleted data from free pages.
Reads use a pool of connections and never wait for a writer. Threads share commits (:mod:`webapp.store.shared_commits`).

Automatic checkpoints are off, because SQLite before 3.51.3 can corrupt the database when two processes checkpoint at
once. Only the worker runs them; without a worker, a process that finds the log too large does. While a reader prevents
checkpoints, transactions start at growing intervals, so that more work shares each commit and the log stays bounded.

A backup is a copy of the file that is made while it is in use (:func:`copy_database`), and inspected before it is
restored (:func:`inspect_copy`).
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
from webapp.store import lock_files
from webapp.store.contract import NOTHING, Params, Row, Sizes, Tx, WrongSchema
from webapp.store.migrations import SCHEMA
from webapp.store.shared_commits import Turns
from webapp.store.table import add_to_counts

log = logging.getLogger(__name__)
BUSY_TIMEOUT_S = 10.0
COPY_TIMEOUT_S = 30.0
CHECKPOINT_S, CHECKPOINT_TRIES = 0.02, 20
"""How long a checkpoint waits for readers of the log, while writers wait for it; and how often it tries, because a
writer that waits is not served in turn: among many, a longer wait gets the lock less often than several short ones."""
MAX_UNFOLDED_FRAMES = 1_000
LARGE_LOG, HUGE_LOG = 96 << 20, 224 << 20
LONGEST_PAUSE_S = 1.0
NO_ROOM = 128 << 10
NO_ROOM_LEFT = "the disk is full"
MIN_FREE_PAGES, MIN_FREE_PERCENT = 4_096, 20
"""The file is shrunk only if more of its pages than this are free, in number and in percent of all."""
PAGES_AT_ONCE = 2_000
INCREMENTAL = 2
SHRINKING = f"auto_vacuum={INCREMENTAL}"
"""The pragma for a file that is empty or about to be rewritten."""
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

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, exclusive: bool = False) -> None:
        """Open ``path``, and create it if it does not exist. Raises :class:`Unavailable`.

        With ``exclusive``, the caller holds :func:`.lock_files.exclusive`, and the store does not lock the file itself.
        """
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._busy_timeout_s = busy_timeout_s
        self._idle: deque[Connection] = deque()
        self._write_health = WriteHealth(path.parent, self._has_room)
        self._closed = False
        self._database_lock = None if exclusive else lock_files.share(path)
        try:
            if not path.exists():
                path.touch(mode=0o600)  # the write-ahead log gets the same mode
            with translated():
                if not _size(path):
                    connect(path, busy_timeout_s, SHRINKING).db.close()
                self._writer = connect(self._path, self._busy_timeout_s)
                self._writer.db.execute("PRAGMA busy_timeout = 0")  # Turns retries by itself, and more often
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
        """Every row of the query ``sql``."""
        with self._reader() as connection:
            return connection.all(sql, params)

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """The first row of the query ``sql``, or None."""
        with self._reader() as connection:
            return connection.one(sql, params)

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Every row of the query ``sql`` as a tuple of its columns."""
        with self._reader() as connection:
            return connection.tuples(sql, params)

    @contextmanager
    def write(self, *, shared: bool = False) -> Iterator[Tx]:
        """A transaction that holds the write lock from its start. It may share its commit with other threads."""
        try:
            with translated(), self._turns.block():
                yield self._writer
        except (Unwritable, Damaged) as error:
            self._write_health.failed(error)
            raise
        if self._write_health.error is not None:
            self._write_health.succeeded()

    def migrate(self) -> list[str]:
        """Apply the pending migrations in one transaction, so that an interrupted migration changes nothing."""
        with self._reader() as connection:
            if SCHEMA.is_recorded(connection.db):
                return []
        with self.write():
            return SCHEMA.apply(self._writer.db)

    def pending(self) -> list[str]:
        """The names of the migrations that were not applied yet."""
        with self._reader() as connection:
            SCHEMA.check(connection.db, whole=True)
            return SCHEMA.pending(connection.db)

    def checkpoint(self) -> bool:
        """Checkpoint the write-ahead log as far as readers allow, and truncate it. Returns whether it is empty.

        Most of it is written back while others write; they wait only for the rest.
        """
        with translated(), closing(connect(self._path, CHECKPOINT_S).db) as db:
            for _ in range(CHECKPOINT_TRIES):
                _, frames, folded = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if frames - folded <= MAX_UNFOLDED_FRAMES:
                    busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    if not busy:
                        return True
        return False

    def shrinks(self) -> bool:
        """Whether :meth:`shrink` can shrink the file; a file of an earlier version needs :meth:`compact` first."""
        return self._pragma("auto_vacuum") == INCREMENTAL

    def shrink(self) -> bool:
        """Return free pages of the file to the disk, if there are many. Returns whether there were."""
        if not self.shrinks():
            return False
        kept_pages = max(MIN_FREE_PAGES, self._pragma("page_count") * MIN_FREE_PERCENT // 100)
        if self._pragma("freelist_count") <= kept_pages:
            return False
        with translated(), closing(connect(self._path, self._busy_timeout_s).db) as db:
            db.conn.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")  # execute() would free only one page
        return True

    def compact(self) -> None:
        """Rewrite the file without its free pages, in the format that :meth:`shrink` needs.

        Needs as much disk space again meanwhile. The caller holds :func:`webapp.store.lock_files.exclusive`.
        """
        with translated(), closing(connect(self._path, self._busy_timeout_s, SHRINKING).db) as db:
            db.execute("VACUUM")
        self.checkpoint()

    def check_writable(self) -> None:
        """Raise :class:`Unavailable` if nothing can be written; it tries to write only after an earlier failure."""
        if not self._has_room():
            error = Unwritable.because(NO_ROOM_LEFT)
            self._write_health.failed(error)
            raise error
        if self._write_health.error is not None:
            with self.write() as tx:
                add_to_counts(tx, ["probes"], 1)

    def faults(self) -> list[str]:
        """The faults that SQLite finds in the file, in its words; reads all of it. Raises :class:`Damaged`."""
        with self._reader() as connection:
            lines = [line for (line,) in connection.tuples("PRAGMA quick_check(3)")]
        return [] if lines == ["ok"] else lines

    def server(self) -> str:
        """An empty text: there is no server."""
        return ""

    def sizes(self) -> Sizes:
        """The sizes in bytes of the file and its log, and the free space on the disk."""
        disk = os.statvfs(self.folder)
        return Sizes(_size(self._path), _size(self._log), disk.f_bavail * disk.f_frsize)

    def notify(self) -> None:
        """Does nothing: processes on one machine wake each other without the store."""

    def listen(self, notified: Callable[[], None]) -> AbstractContextManager[None]:
        """Does nothing: processes on one machine wake each other without the store."""
        return nullcontext()

    def close(self) -> None:
        """Close every connection. Raises :class:`Unavailable` if a write takes too long to end."""
        with self._turns.outside():
            self._closed = True
            self._writer.db.close()
            while self._idle:
                self._idle.pop().db.close()
            self._leave()

    def _pause_s(self) -> float:
        """The interval between transactions, which grows with the log. Checkpoints the log if there is no worker."""
        excess = _size(self._log) - LARGE_LOG
        if excess <= 0:
            return 0.0
        with lock_files.without_worker(self._path) as vacant:
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
        if self._database_lock is not None:
            os.close(self._database_lock)
            self._database_lock = None

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
    """Whether this process could write to ``folder`` the last time it tried; ``error`` is the failure, or None.

    It logs a line when writing starts to fail, and another when it works again. On a full disk a small write may
    succeed, so writing counts as working only if ``has_room`` returns True, too.
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
                "Nothing can be written in %s: %s. What was accepted is kept; work resumes by itself afterwards.",
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
    """Open ``path``, waiting up to ``timeout_s`` seconds for a lock; the pragmas ``first`` run before ours."""
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
    return Connection(db)


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's exceptions into ours, except those that are caused by wrong SQL."""
    try:
        yield
    except sqlite3.Error as error:
        ours = translation(error)
        if ours is None:
            raise
        raise ours from error


def translation(error: BaseException) -> Unavailable | Conflict | None:
    """The error to raise instead of SQLite's, or None if the cause is a bug in our SQL."""
    if isinstance(error, sqlite3.IntegrityError):
        return Conflict()
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _PASSING:
        return Unavailable()
    if code in _DAMAGED:
        return Damaged()
    return Unwritable.because(_CAUSES[code]) if code in _CAUSES else None


def is_busy(error: BaseException) -> bool:
    """Whether SQLite raised ``error`` because another process holds the lock."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_BUSY


def copy_database(database: Path, target: Path) -> None:
    """Copy a consistent snapshot of ``database`` to ``target``, readable only by its owner, while it is in use.

    ``VACUUM INTO`` does not copy deleted data, such as keys that were rotated. Raises :class:`Unavailable` and
    ``FileExistsError``.
    """
    target.touch(mode=0o600, exist_ok=False)
    with _connected(database, "rw") as connection:
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.OperationalError as error:
            raise Unavailable(f"The database could not be copied ({error}); make room on the disk.") from error


def inspect_copy(database: Path) -> None:
    """Raise :class:`Invalid` unless ``database`` is intact and this version supports its schema."""
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
