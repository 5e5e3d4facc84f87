"""The connection on which a process writes: the lock of all writers is taken first, and never kept in silence.

Shared transactions take the lock in its shared mode. Each waits for those of the other mode that came before it, so
that neither keeps the other away for good. What they add to sums is written right before the commit, in one order.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

import psycopg
from psycopg.pq import TransactionStatus

from webapp.store.contract import Params
from webapp.store.postgres.connections import Pool, Session, Sums

WRITE_LOCK = 0x50617463
"""The advisory lock that a write transaction holds: "Patc"."""
AT_ONCE = 16
"""So many sums are written by one statement: each number of them is prepared as another one."""
_VALUES = re.compile(r"(?<=\bVALUES )\([^()]*\)")
_NAME = re.compile(r":\w+")
SILENT_S = 10.0
"""So long nothing may come from whoever holds the lock: a machine that lost its power gives it back then."""


def bounds(patience_s: float) -> tuple[str, ...]:
    """How long who writes waits for a lock, and how long it may be silent: settings of a session, or a transaction."""
    return (
        f"lock_timeout = {int(patience_s * 1000)}",
        f"idle_in_transaction_session_timeout = {int(SILENT_S * 1000)}",
    )


class Writer:
    """The write transaction of a process, as :class:`webapp.store.turns.Turns` works with it.

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


def _of_rows(statement: str, rows: Sequence[Params]) -> tuple[str, Params]:
    """An ``INSERT … VALUES (…)`` of one row as that of several, and its parameters."""
    match = _VALUES.search(statement)
    if match is None or len(rows) == 1:
        return statement, rows[0]
    tuples = (_NAME.sub(rf"\g<0>_{number}", match[0]) for number in range(len(rows)))
    text = f"{statement[: match.start()]}{', '.join(tuples)}{statement[match.end() :]}"
    return text, {f"{name}_{number}": value for number, row in enumerate(rows) for name, value in row.items()}
