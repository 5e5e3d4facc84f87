"""Connections to PostgreSQL: a pool of them, statements on one of them, and one that a write transaction takes.

No state of a session is relied on, so that PgBouncer may stand in between (pool_mode=transaction): each connection is
as good as any other, and what a transaction needs is set within it. Only statements that are prepared, which halve the
cost of most reads, belong to a session: behind a pooler none are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from webapp.store.contract import NOTHING, Params, Row
from webapp.store.postgres.sql import statement
from webapp.store.postgres.values import CONTEXT

T = TypeVar("T")
PREPARED_AFTER, MOST_STATEMENTS = 2, 500
_ALIVE = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "application_name": "patchbay",
}
"""A server that is gone is noticed; the address may say otherwise."""
RECONNECT_S = 3.0
"""So long the pool tries by itself, ever more seldom; afterwards each who asks makes it try at once."""


class Session:
    """One connection as a :class:`webapp.store.contract.Tx`."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._cursor = psycopg.RawCursor(connection)

    @property
    def status(self) -> TransactionStatus:
        """Whether a transaction is open on it, has failed, or cannot be known."""
        return self.connection.info.transaction_status

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        rows = self.tuples(sql, params)
        names = [column.name for column in self._cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        rows = self.all(sql, params)
        return rows[0] if rows else None

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        text, names = statement(sql)
        return self._cursor.execute(text, [params[name] for name in names], binary=True).fetchall()

    def run(self, sql: str, params: Params = NOTHING) -> int:
        text, names = statement(sql)
        return max(self._cursor.execute(text, [params[name] for name in names], binary=True).rowcount, 0)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        with self._cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def command(self, sql: str) -> str | None:
        """Send ``sql``, several statements perhaps, in one go; what the server says of the first one."""
        self._cursor.execute(sql, prepare=False)
        return self._cursor.statusmessage


class Pool:
    """At most ``size`` connections to ``url``, made when they are needed and again when they are lost."""

    def __init__(self, url: str, size: int, patience_s: float) -> None:
        """Raises ``psycopg.OperationalError`` where nothing answers at ``url``, or lets nobody in."""
        with connect(url) as connection:  # the pool would try for long, and not say why
            self.is_pooled = _is_pooled(connection)
        self._size = size
        self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
            url,
            kwargs={**_options(url), "autocommit": True, "context": CONTEXT},
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
            yield Session(connection)
        finally:
            self._pool.putconn(connection)

    def take(self) -> Session:
        """A connection to keep until :meth:`give_back`."""
        return Session(self._pool.getconn())

    def give_back(self, session: Session) -> None:
        """The end of :meth:`take`."""
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

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        connection.prepared_max = MOST_STATEMENTS
        connection.prepare_threshold = None if self.is_pooled else PREPARED_AFTER

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
