"""PostgreSQL as the store, for installations that have outgrown one machine.

A write transaction takes one advisory lock of the database before anything else. So the writers of all machines come
one after another, each sees what those before it committed, and nothing that it reads can change under it: SQLite's
write lock makes the same promise. ``READ COMMITTED`` is enough for that, no transaction fails because of another, and
none has to be run again. Threads of a process share transactions and commits
(:mod:`webapp.store.shared_commits`), so that the lock changes hands once for many of them. Readers take no lock and
wait for nobody.

Writes of the hot paths are *shared*: they hold that lock together with others of their kind and claim their rows with
``FOR NO KEY UPDATE SKIP LOCKED``, so that several processes write events, deliveries and timers side by side. What they
add to sums is written right before the commit, in one order. A process that has no more connections than writers may
hold shares none, so that one is left to read.

A lost connection is replaced, and a read is asked again. A write whose connection is lost raises
:class:`webapp.errors.Unavailable`: it was undone, unless the connection was lost in the very moment of the commit. What
must not happen twice is therefore guarded by what it writes (an id, an attempt's number, a generation), not by whether
its caller learned of it.

The workers of other machines are woken by ``NOTIFY``. One that is lost costs a second, since workers look by themselves
that often: the connection was lost, or leads through a pooler that does not keep it for us.
"""

import logging
import re
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from webapp.errors import Unavailable, Unwritable
from webapp.kit.clock import now
from webapp.store.contract import NOTHING, Params, Row, Sizes, Tx, WrongSchema
from webapp.store.postgres import schema
from webapp.store.postgres.connections import UNICODE, Pool, Session, Sums, translated, translation
from webapp.store.postgres.months import PostgresMonths
from webapp.store.postgres.timelines import ReplacedPrimary
from webapp.store.shared_commits import Turns

log = logging.getLogger(__name__)
PATIENCE_S = 10.0
CONNECTIONS = 10
WRITING = 2
"""How many connections writers hold at most: one that is shared, and one that is not."""
WRITE_LOCK = 0x50617463
"""The advisory lock that a write transaction holds: "Patc"."""
SILENT_S = 10.0
"""How long the holder of the lock may be silent: a machine that lost its power loses the lock then."""
AT_ONCE = 16
"""How many sums one statement writes: each number of them is prepared as another statement."""
CHANNEL = "patchbay_work"
PAUSE_S = 0.02
AFTER_TROUBLE_S = 1.0
_LOOK_S = 0.5
_VALUES = re.compile(r"(?<=\bVALUES )\([^()]*\)")
_NAME = re.compile(r":\w+")


class PostgresStore:
    """A :class:`webapp.store.contract.Store` in one schema of a PostgreSQL database."""

    def __init__(
        self,
        url: str,
        *,
        connections: int = CONNECTIONS,
        patience_s: float = PATIENCE_S,
        timeline_file: Path | None = None,
    ) -> None:
        """Connect to ``url``, with at most so many ``connections``. Raises :class:`Unavailable` with the reason.

        ``timeline_file`` keeps the newest timeline that this machine has seen (:mod:`webapp.store.postgres.timelines`).
        """
        try:
            self._pool = Pool(url, connections, patience_s, bounds(patience_s), timeline_file=timeline_file)
        except (psycopg.ProgrammingError, UnicodeError):  # they repeat parts of the address, such as a password
            raise Unavailable("PATCHBAY_DATABASE_URL is not an address that libpq reads.") from None
        except ReplacedPrimary as error:
            raise Unavailable(str(error)) from error
        except psycopg.Error as error:
            raise Unavailable(f"PATCHBAY_DATABASE_URL leads to no database: {_reason(error)}.") from error
        if self._pool.encoding != UNICODE:
            self._pool.close()
            raise Unavailable(
                f"The database in PATCHBAY_DATABASE_URL keeps text as {self._pool.encoding}; it must be {UNICODE}: "
                "make another with `createdb --encoding=UTF8 --template=template0`."
            )
        self._notifier, self._shares = Notifier(self._pool), connections > WRITING
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
        with self._translated():
            return self._pool.read(lambda session: session.all(sql, params))

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """The first row that ``sql`` gives, if any."""
        with self._translated():
            return self._pool.read(lambda session: session.one(sql, params))

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Every row that ``sql`` gives, as its values in the order of the columns."""
        with self._translated():
            return self._pool.read(lambda session: session.tuples(sql, params))

    @contextmanager
    def write(self, *, shared: bool = False) -> Iterator[Tx]:
        """A transaction that begins with the write lock in hand. It may share its commit with others, and with
        ``shared`` the lock too."""
        beside = shared and self._shares
        turns, writer = (self._shared_turns, self._shared_writer) if beside else (self._turns, self._writer)
        with self._translated(), turns.block():
            yield writer.session

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the database's exceptions into ours; while the server is refused, say why."""
        try:
            with translated():
                yield
        except Unavailable as error:
            if refusal := self._pool.refusal:
                raise Unavailable(refusal) from error
            raise

    def migrate(self) -> list[str]:
        """Apply what is pending inside one transaction; of several processes, one does. Then make the missing months.

        Raises :class:`WrongSchema` where this user may not.
        """
        applied = self._apply(waiting) if (waiting := self.pending()) else []
        self.months.ensure(now())
        return applied

    def _apply(self, waiting: list[str]) -> list[str]:
        try:
            with self._translated(), self._turns.block():
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
        with self._translated():
            return self._pool.read(schema.pending)

    def checkpoint(self) -> bool:
        """Nothing to do: PostgreSQL folds its log by itself."""
        return True

    def shrink(self) -> bool:
        """Nothing to do: PostgreSQL reuses room by itself."""
        return False

    def check_writable(self) -> None:
        """Raise :class:`Unavailable` where the server takes no writes, such as a standby."""
        row = self.one("SELECT current_setting('transaction_read_only') AS read_only")
        if row != {"read_only": "off"}:
            raise Unwritable.because("the database is read-only")

    def faults(self) -> list[str]:
        """The indexes that the server calls invalid; it checks its pages by itself."""
        rows = self.tuples("SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1")
        return [f"the index {name} is not valid" for (name,) in rows]

    def sizes(self) -> Sizes:
        """The bytes of the database; its log and the free room on its disk are up to the server."""
        ((size,),) = self.tuples("SELECT pg_database_size(current_database())")
        return Sizes(size, 0, None)

    def server(self) -> str:
        """PostgreSQL and its version, such as ``PostgreSQL 15.8``."""
        ((version,),) = self.tuples("SELECT current_setting('server_version')")
        return f"PostgreSQL {str(version).split(' ', 1)[0]}"

    def notify(self) -> None:
        """Wake whoever listens in another process; returns at once."""
        self._notifier.notify()

    def listen(self, notified: Callable[[], None]) -> AbstractContextManager[None]:
        """Within the block, call ``notified`` when another process notifies."""
        return self._notifier.listen(notified)

    def close(self) -> None:
        """Close every connection. Raises :class:`Unavailable` while somebody writes for too long."""
        self._notifier.close()
        with self._turns.outside(), self._shared_turns.outside():
            self._pool.close()


def _reason(error: psycopg.Error) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


class Writer:
    """The write transaction of a process, as :class:`webapp.store.shared_commits.Turns` works with it.

    Its connection is taken from the pool when it begins and given back when it ends. A command that nobody waits for
    travels with the next one. The first block, which most transactions have alone, needs no savepoint: to undo it is to
    undo the transaction.
    """

    def __init__(self, pool: Pool, size: int, patience_s: float, *, shared: bool = False) -> None:
        self._pool, self._size, self._shared = pool, size, shared
        local = bounds(patience_s) if pool.is_pooled else ()
        self._begin = "; ".join(
            [
                "BEGIN ISOLATION LEVEL READ COMMITTED",
                *(f"SET LOCAL {bound}" for bound in local),
                f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}({WRITE_LOCK})",
            ]
        )
        self._session: Session | None = None
        self._is_first = self._to_release = False
        self._sums: Sums = Counter()

    @property
    def session(self) -> Session:
        """The connection of the transaction that is open."""
        if self._session is None:
            raise RuntimeError("no transaction is open")
        return self._session

    @property
    def in_transaction(self) -> bool:
        """Whether one is open, and its connection stands."""
        return self._session is not None and self._session.status in (
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        )

    def execute(self, sql: str, /) -> None:
        """Send one of the commands of a transaction."""
        if sql == "BEGIN IMMEDIATE":
            self._open()
        elif sql == "RELEASE block" and self._session is None:
            return  # it was the first, and was undone
        elif sql == "RELEASE block" and self.session.status == TransactionStatus.INTRANS:
            self._to_release, self._is_first = not self._is_first, False
            self._keep_sums()
        elif sql in ("COMMIT", "ROLLBACK"):
            self._close(sql)
        elif sql == "ROLLBACK TO block" and self._is_first:
            self._close("ROLLBACK")
        elif not self._is_first or sql != "SAVEPOINT block":
            if sql == "ROLLBACK TO block" and self.session.sums:
                self.session.sums.clear()
            self.session.command(f"RELEASE block; {sql}" if self._to_release else sql)
            self._to_release = False

    def _keep_sums(self) -> None:
        if sums := self.session.sums:
            self._sums.update(sums)
            sums.clear()

    def _open(self) -> None:
        self._give_back()  # where it was lost
        for attempt in range(self._size + 1):
            session = self._pool.take()
            try:
                session.command(self._begin)
            except BaseException as error:
                lost = isinstance(error, psycopg.OperationalError) and session.connection.broken
                if session.status == TransactionStatus.INERROR:
                    with suppress(psycopg.Error):  # where it is lost now, the pool notices
                        session.command("ROLLBACK")
                self._pool.give_back(session)
                if not lost or attempt == self._size:
                    raise
            else:
                session.sums = Counter() if self._shared else None
                self._session, self._is_first = session, True
                return

    def _close(self, sql: str) -> None:
        try:
            if sql == "COMMIT":
                self._write_sums()
            if self.session.command(sql) != sql:
                raise psycopg.OperationalError("the transaction had failed before it was to be committed")
        finally:
            self._give_back()

    def _write_sums(self) -> None:
        sums = sorted((statement, (*params, ("by", by))) for (statement, params), by in self._sums.items() if by)
        for statement, rows in groupby(sums, itemgetter(0)):
            values = [dict(params) for _, params in rows]
            size = AT_ONCE if _VALUES.search(statement) else 1
            for first in range(0, len(values), size):
                self.session.run(*_of_rows(statement, values[first : first + size]))

    def _give_back(self) -> None:
        self._sums.clear()
        session, self._session, self._is_first, self._to_release = self._session, None, False, False
        if session is not None:
            self._pool.give_back(session)


def bounds(patience_s: float) -> tuple[str, ...]:
    """Settings of a session or a transaction: how long a writer waits for a lock, and how long it may be silent."""
    return (
        f"lock_timeout = {int(patience_s * 1000)}",
        f"idle_in_transaction_session_timeout = {int(SILENT_S * 1000)}",
    )


def _of_rows(statement: str, rows: Sequence[Params]) -> tuple[str, Params]:
    """An ``INSERT … VALUES (…)`` of one row as that of several, and its parameters."""
    match = _VALUES.search(statement)
    if match is None or len(rows) == 1:
        return statement, rows[0]
    tuples = (_NAME.sub(rf"\g<0>_{number}", match[0]) for number in range(len(rows)))
    text = f"{statement[: match.start()]}{', '.join(tuples)}{statement[match.end() :]}"
    return text, {f"{name}_{number}": value for number, row in enumerate(rows) for name, value in row.items()}


class Notifier:
    """Wakes the workers of other processes by ``NOTIFY``, and is woken by ``LISTEN``.

    Several notifications within :data:`PAUSE_S` are one.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._name = secrets.token_hex(4)
        self._wanted, self._stopping = threading.Event(), threading.Event()
        self._sender: threading.Thread | None = None
        self._lock = threading.Lock()

    def notify(self) -> None:
        """Wake whoever listens in another process."""
        self._wanted.set()
        if self._sender is None:
            with self._lock:
                if self._sender is None and not self._stopping.is_set():
                    self._sender = threading.Thread(target=self._send, name="notifier", daemon=True)
                    self._sender.start()

    @contextmanager
    def listen(self, notified: Callable[[], None]) -> Iterator[None]:
        """Within the block, call ``notified`` when another process notifies, and once a lost connection is back.

        A pooler would not keep a connection for that, so it never notifies.
        """
        if self._pool.is_pooled:
            yield
            return
        ended = threading.Event()
        listener = threading.Thread(target=self._listen, args=(notified, ended), name="listener", daemon=True)
        listener.start()
        try:
            yield
        finally:
            ended.set()
            listener.join(2 * _LOOK_S)

    def close(self) -> None:
        """End the thread that notifies."""
        with self._lock:
            self._stopping.set()
        self._wanted.set()
        if self._sender is not None:
            self._sender.join(2 * _LOOK_S)

    def _send(self) -> None:
        while self._wanted.wait() and not self._stopping.is_set():
            self._wanted.clear()
            try:
                self._pool.read(lambda session: session.command(f"NOTIFY {CHANNEL}, '{self._name}'"))
            except (psycopg.Error, Unavailable) as error:
                log.debug("No other process was notified: %s", error)
            self._stopping.wait(PAUSE_S)

    def _listen(self, notified: Callable[[], None], ended: threading.Event) -> None:
        while not ended.is_set():
            try:
                with self._pool.connect() as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    notified()
                    while not ended.is_set():
                        notes = [note.payload for note in connection.notifies(timeout=_LOOK_S, stop_after=1)]
                        if any(payload != self._name for payload in notes):
                            notified()
            except psycopg.Error as error:
                log.debug("Listening to other processes failed, and is tried again: %s", error)
                ended.wait(AFTER_TROUBLE_S)
