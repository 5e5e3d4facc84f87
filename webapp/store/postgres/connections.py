"""Connections to PostgreSQL: a pool of them, statements on one of them, and one that a write transaction takes.

PgBouncer may stand in between (pool_mode=transaction): no state of a session is relied on then, each connection is as
good as any other, and what a transaction needs is set within it. Without a pooler, statements are prepared, which
halves the cost of most reads, and what all transactions need is set once for a connection.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from webapp.store.contract import NOTHING, Params, Row
from webapp.store.postgres.sql import numbered
from webapp.store.postgres.values import CONTEXT

T = TypeVar("T")
UNICODE = "UTF8"
_ALIVE = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "application_name": "patchbay",
}
"""A server that is gone is noticed; the address may say otherwise."""
PREPARED_FROM, MOST_PREPARED = 1, 500
"""What was executed so often before is prepared; of so many statements, the one not used for longest is let go."""
RECONNECT_S = 3.0
"""So long the pool tries by itself, ever more seldom; afterwards each who asks makes it try at once."""


Sums = Counter[tuple[str, tuple[tuple[str, Any], ...]]]
"""What a shared transaction adds at its end: by the statement and its parameters."""


class Session:
    """One connection as a :class:`webapp.store.contract.Tx`, kept as long as that."""

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
        return self._cursor.execute(*numbered(sql, params)).fetchall()

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
        """Send ``sql``, several statements perhaps, in one go; what the server says of the first one."""
        return self._cursor.execute(sql, prepare=False, binary=False).statusmessage


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """One of the pool, with its session."""

    @cached_property
    def session(self) -> Session:
        """What works on it."""
        return Session(self)


class Pool:
    """At most ``size`` connections to ``url``, made when they are needed and again when they are lost.

    ``settings`` of a session, such as ``lock_timeout = 1000``, are made on each, but not through a pooler.
    """

    def __init__(self, url: str, size: int, patience_s: float, settings: Sequence[str] = ()) -> None:
        """Raises ``psycopg.OperationalError`` where nothing answers at ``url``, or lets nobody in."""
        with connect(url) as connection:  # the pool would try for long, and not say why
            self.is_pooled = _is_pooled(connection)
            self.encoding = connection.info.parameter_status("server_encoding") or UNICODE
        self._size, self._settings = size, "; ".join(f"SET {setting}" for setting in settings)
        self._pool: ConnectionPool[_Connection] = ConnectionPool(
            url,
            connection_class=_Connection,
            kwargs={
                **_options(url),
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
        connection = self._pool.getconn()
        try:
            yield connection.session
        finally:
            self._pool.putconn(connection)

    def take(self) -> Session:
        """A connection to keep until :meth:`give_back`."""
        return self._pool.getconn().session

    def give_back(self, session: Session) -> None:
        """The end of :meth:`take`."""
        session.sums = None
        self._pool.putconn(session.connection)

    def read(self, verb: Callable[[Session], T]) -> T:
        """What ``verb`` reads. Where its connection had been lost before, it asks once more on another."""
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


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection of its own to ``url``. Raises ``psycopg.OperationalError``."""
    return psycopg.connect(url, autocommit=True, **_options(url))


def _options(url: str) -> dict[str, Any]:
    known = conninfo_to_dict(url)
    return {name: value for name, value in _ALIVE.items() if name not in known}


def _is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether something else than the server answers: its process is not the one that was named at the beginning."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid
