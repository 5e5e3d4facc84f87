"""Connections to PostgreSQL: psycopg's pool of them, statements and values as SQLite takes and gives them, and errors.

PgBouncer may stand in between (``pool_mode=transaction``): then no state of a session is relied on, each connection is
as good as any other, and what a transaction needs is set within it. Without a pooler, psycopg prepares statements,
which halves the cost of most reads, and what all transactions need is set once for a connection.

Whole numbers travel as BIGINT, ``bool`` as 0 or 1, bytes as BYTEA; a NUL in a text, which no server keeps, as U+FFFD.
What PostgreSQL counts as a truth comes back as 0 or 1, and a sum of whole numbers as one.

How many rows a list gives at most is a parameter like any other. A plan for any value takes it for a tenth of what
there is then, however much :data:`webapp.store.postgres.schema.DISTINCT` says that is.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import adapters, postgres
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format, TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from webapp.errors import Conflict, Damaged, Unavailable, Unwritable
from webapp.store.contract import IN_ORDER, NOTHING, Params, Row, limited
from webapp.store.postgres.timelines import Timelines

UNICODE = "UTF8"
_ALIVE = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "application_name": "patchbay",
}
"""So that a server that is gone is noticed; the address may say otherwise."""
PREPARED_FROM, MOST_PREPARED = 1, 500
"""How often a statement is executed before it is prepared; how many are kept, those least recently used go first."""
_IN_ORDER = {
    "plan_cache_mode": "force_generic_plan",
    "enable_sort": "off",
    "enable_incremental_sort": "off",
    "jit": "off",  # where something has to be sorted nevertheless, its cost seems to be worth a compilation
}
REFUSED_S = 1.0
RECONNECT_S = 3.0
"""How long the pool tries by itself, ever more seldom; afterwards each request makes it try at once."""
_TOKEN = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|:([A-Za-z_]\w*)""")
_CAUSES = {
    "53100": "the disk of the database is full",
    "25006": "the database is read-only",
    "42501": "the user in PATCHBAY_DATABASE_URL may not write there",
}
_SILENT = "25P03"  # idle_in_transaction_session_timeout
_DAMAGED = frozenset({"XX001", "XX002"})
_PASSING = ("08", "40", "53", "55", "57", "58")
"""Classes of error codes (appendix A of PostgreSQL's manual): connections, deadlocks, resources, locks, an operator who
stops it, its system."""
T = TypeVar("T")
Sums = Counter[tuple[str, tuple[tuple[str, Any], ...]]]
"""What a shared transaction adds at its end, by the statement and its parameters."""


class Session:
    """One connection as a :class:`webapp.store.contract.Tx`, for as long as it lasts."""

    def __init__(self, connection: "_Connection") -> None:
        self.connection = connection
        self.sums: Sums | None = None
        self._cursor = connection.cursor(binary=True)
        self._dictionaries = connection.cursor(binary=True, row_factory=dict_row)

    @property
    def shared(self) -> bool:
        """Whether its transaction is one of several that hold the write lock together."""
        return self.sums is not None

    @property
    def status(self) -> TransactionStatus:
        """Whether a transaction is open on it, has failed, or cannot be known."""
        return self.connection.info.transaction_status

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        return self._dictionaries.execute(*numbered(sql, params)).fetchall()

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        rows = self.all(sql, params)
        return rows[0] if rows else None

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        if not sql.startswith(IN_ORDER) or self.connection.prepare_threshold is None:
            return self._cursor.execute(*numbered(sql, params)).fetchall()
        self.command("; ".join(f"SET {name} = {value}" for name, value in _IN_ORDER.items()))
        try:
            return self._cursor.execute(*numbered(sql, params)).fetchall()
        finally:
            if self.status in (TransactionStatus.IDLE, TransactionStatus.INTRANS):
                self.command("; ".join(f"RESET {name}" for name in _IN_ORDER))

    def run(self, sql: str, params: Params = NOTHING) -> int:
        return max(self._cursor.execute(*numbered(sql, params)).rowcount, 0)

    def add(self, sql: str, params: Params, by: int) -> None:
        if self.sums is None:
            self.run(sql, {**params, "by": by})
        else:
            self.sums[sql, tuple(sorted(params.items()))] += by

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        with self.connection.cursor().copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def command(self, sql: str) -> str | None:
        """Send ``sql``, several statements perhaps, in one go; the command tag of the first one."""
        return self._cursor.execute(sql, prepare=False, binary=False).statusmessage


def numbered(sql: str, params: Params) -> tuple[str, list[Any]]:
    """``sql`` with ``$1`` and so on in place of its ``:name`` parameters, and their values in that order."""
    text, names = _statement(sql)
    return text, [params[name] for name in names]


@lru_cache(maxsize=4096)
def _statement(sql: str) -> tuple[str, tuple[str, ...]]:
    """``sql`` and the names of its parameters; what stands in quotes or comments, and ``::``, is left alone."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    # The planner would read parts that are not limited to their ends: it does not know that few rows are wanted.
    return _TOKEN.sub(number, limited(sql)), tuple(names)


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection of the pool, with its session."""

    @classmethod
    def connect(cls, conninfo: str = "", *, timelines: Timelines, **options: Any) -> "_Connection":  # type: ignore[override]
        """A connection on the newest timeline. Raises ``psycopg.OperationalError``."""
        return timelines.connect(partial(super().connect, **options))

    @cached_property
    def session(self) -> Session:
        """The session over this connection."""
        return Session(self)


class _TruthDumper(Dumper):
    oid = postgres.types["int8"].oid

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class _TextDumper(Dumper):
    oid = postgres.types["text"].oid

    def dump(self, obj: Any) -> bytes:
        text: str = obj
        return (text.replace("\0", "\ufffd") if "\0" in text else text).encode()


class _TruthLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(bytes(data) != b"\0")


class _NumberLoader(NumericBinaryLoader):
    def load(self, data: Buffer) -> Any:
        value: Decimal = super().load(data)
        return int(value) if value == value.to_integral_value() else float(value)


def _adapters() -> AdaptersMap:
    ours = AdaptersMap(adapters)
    ours.register_dumper(bool, _TruthDumper)
    ours.register_dumper(int, Int8Dumper)
    ours.register_dumper(str, _TextDumper)
    ours.register_loader("bool", _TruthLoader)
    ours.register_loader("numeric", _NumberLoader)
    return ours


class _Context:
    """Where a connection takes its adapters from."""

    connection = None
    adapters = _adapters()


CONTEXT = _Context()
"""For results in the binary format, which :class:`Session` asks for."""


class Pool:
    """At most ``size`` connections to ``url``, made when they are needed and again when they are lost.

    ``settings`` of a session, such as ``lock_timeout = 1000``, are made on each, but not through a pooler.
    """

    def __init__(
        self,
        url: str,
        size: int,
        patience_s: float,
        settings: Sequence[str] = (),
        *,
        timeline_file: Path | None = None,
    ) -> None:
        """Raises ``psycopg.OperationalError`` where nothing answers at ``url``, or lets nobody in."""
        self._url, self._timelines = url, Timelines(url, timeline_file)
        with self.connect() as connection:  # the pool would try for long, and not say why
            self.is_pooled = _is_pooled(connection)
            self.encoding = connection.info.parameter_status("server_encoding") or UNICODE
        self._size, self._settings = size, "; ".join(f"SET {setting}" for setting in settings)
        self._pool: ConnectionPool[_Connection] = ConnectionPool(
            url,
            connection_class=_Connection,
            kwargs={
                **_options(url),
                "timelines": self._timelines,
                "autocommit": True,
                "context": CONTEXT,
                "cursor_factory": psycopg.RawCursor,
                "prepare_threshold": None if self.is_pooled else PREPARED_FROM,
            },
            min_size=1,
            max_size=size,
            open=False,
            timeout=patience_s,
            reconnect_timeout=RECONNECT_S,
            name="patchbay",
            configure=self._configure,
        )
        self._pool.open()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A connection, given back when the block ends. Raises ``PoolTimeout`` when none is free in time."""
        connection = self._get()
        try:
            yield connection.session
        finally:
            self._pool.putconn(connection)

    def connect(self) -> psycopg.Connection[Any]:
        """A connection of its own, to keep and to close. Raises ``psycopg.OperationalError``."""
        options = _options(self._url)
        return self._timelines.connect(lambda address: psycopg.connect(address, autocommit=True, **options))

    @property
    def refusal(self) -> str | None:
        """Why the server was refused that answered last, in a sentence; None if it was not."""
        return self._timelines.refusal

    def take(self) -> Session:
        """A connection to keep until :meth:`give_back`."""
        return self._get().session

    def _get(self) -> _Connection:
        """A free connection, for which nobody waits for long while the server is refused."""
        return self._pool.getconn(REFUSED_S if self.refusal else None)

    def give_back(self, session: Session) -> None:
        """The end of :meth:`take`."""
        session.sums = None
        self._pool.putconn(session.connection)

    def read(self, verb: Callable[[Session], T]) -> T:
        """What ``verb`` reads. Where the connection turns out to be lost, it is asked again on another."""
        for _ in range(self._size):
            with self.session() as session:
                try:
                    return verb(session)
                except psycopg.OperationalError:
                    if not session.connection.broken:
                        raise
        with self.session() as session:
            return verb(session)

    def _configure(self, connection: _Connection) -> None:
        connection.prepared_max = MOST_PREPARED
        if self._settings and not self.is_pooled:
            connection.execute(self._settings)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


def _options(url: str) -> dict[str, Any]:
    known = conninfo_to_dict(url)
    return {name: value for name, value in _ALIVE.items() if name not in known}


def _is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether a pooler answers: the server's process is not the one that the connection was opened to."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's exceptions into ours. One that says that our SQL is wrong stays what it is."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests) as error:
        ours = translation(error)
        if ours is None:
            raise
        raise ours from error


def translation(error: BaseException) -> Unavailable | Conflict | None:
    """Our error for one of the database's; None where it is a fault of ours.

    A connection that is lost while it commits is :class:`Unavailable` as well: nobody knows whether that succeeded.
    """
    if isinstance(error, PoolTimeout | PoolClosed | TooManyRequests):
        return Unavailable()
    if not isinstance(error, psycopg.Error):
        return None
    state = error.sqlstate or ""
    if isinstance(error, psycopg.IntegrityError):
        return Conflict()
    if state in _CAUSES:
        return Unwritable.because(_CAUSES[state])
    if state in _DAMAGED:
        return Damaged()
    if state == _SILENT or state[:2] in _PASSING or (not state and isinstance(error, psycopg.OperationalError)):
        return Unavailable()
    return None
