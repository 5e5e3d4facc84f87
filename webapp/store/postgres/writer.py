"""The connection on which a process writes: the lock of all writers is taken first, and never kept in silence."""

from contextlib import suppress

import psycopg
from psycopg.pq import TransactionStatus

from webapp.store.postgres.connections import Pool, Session

WRITE_LOCK = 0x50617463
"""The advisory lock that a write transaction holds: "Patc"."""
SILENT_S = 10.0
"""So long nothing may come from whoever holds the lock: a machine that lost its power gives it back then."""


class Writer:
    """The write transaction of a process, as :class:`webapp.store.turns.Turns` works with it.

    Its connection is taken from the pool when it begins and given back when it ends. A command that nobody waits for
    travels with the next one.
    """

    def __init__(self, pool: Pool, size: int, patience_s: float) -> None:
        self._pool, self._size = pool, size
        self._begin = (
            f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {int(patience_s * 1000)}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {int(SILENT_S * 1000)}; "
            f"SELECT pg_advisory_xact_lock({WRITE_LOCK}); SAVEPOINT block"
        )
        self._session: Session | None = None
        self._has_savepoint = self._to_release = False

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
        elif sql == "SAVEPOINT block" and self._has_savepoint:
            self._has_savepoint = False
        elif sql == "RELEASE block" and self.session.status == TransactionStatus.INTRANS:
            self._to_release = True
        elif sql in ("COMMIT", "ROLLBACK"):
            self._close(sql)
        else:
            self.session.command(f"RELEASE block; {sql}" if self._to_release else sql)
            self._to_release = False

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
                self._session, self._has_savepoint = session, True
                return

    def _close(self, sql: str) -> None:
        try:
            if self.session.command(sql) != sql:
                raise psycopg.OperationalError("the transaction had failed before it was to be committed")
        finally:
            self._give_back()

    def _give_back(self) -> None:
        session, self._session, self._has_savepoint, self._to_release = self._session, None, False, False
        if session is not None:
            self._pool.give_back(session)
