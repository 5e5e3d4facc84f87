"""Statements on one connection, by libpq itself: psycopg's cursors, which can do more, take half as long again.

What is asked for a second time is prepared, but not through a pooler. psycopg says how values travel, and which error
an answer is.
"""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, Format
from psycopg.pq.abc import PGresult

PREPARED_AFTER, MOST_STATEMENTS = 2, 500
_FINE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
_Key = tuple[str, tuple[int, ...]]


class Statements:
    """Those of ``connection``, which one thread uses at a time; ``prepares`` where it stays the same."""

    def __init__(self, connection: psycopg.Connection[Any], *, prepares: bool) -> None:
        self._link, self._prepares = connection.pgconn, prepares
        self._values = Transformer(connection)
        self._seen: dict[_Key, int] = {}
        self._names: dict[_Key, bytes] = {}
        self._number = 0

    def execute(self, sql: str, params: Sequence[Any]) -> PGresult:
        """What the server answers to ``sql`` with ``$1`` and so on. Raises ``psycopg.Error``."""
        dumped: list[Any] = list(self._values.dump_sequence(params, [PyFormat.AUTO] * len(params)))
        types, formats = self._values.types or (), self._values.formats
        if (name := self._prepared((sql, types))) is not None:
            result = self._link.exec_prepared(name, dumped, formats, Format.BINARY)
        else:
            result = self._link.exec_params(sql.encode(), dumped, types, formats, Format.BINARY)
        return self._checked(result)

    def command(self, sql: str) -> str | None:
        """Send ``sql``, several statements perhaps, in one go; what the server says of the last one.

        Raises ``psycopg.Error``.
        """
        status = self._checked(self._link.exec_(sql.encode())).command_status
        return status.decode() if status is not None else None

    def rows(self, result: PGresult) -> list[tuple[Any, ...]]:
        """The rows of an answer."""
        self._values.set_pgresult(result, format=Format.BINARY)
        rows = self._values.load_rows(0, result.ntuples, tuple)
        self._values.set_pgresult(None)  # which may be large
        return rows

    def _prepared(self, key: _Key) -> bytes | None:
        """What the statement is called at the server, once it is used often."""
        if (name := self._names.get(key)) is not None or not self._prepares:
            return name
        uses = self._seen[key] = self._seen.get(key, 0) + 1
        if uses < PREPARED_AFTER:
            if len(self._seen) > 2 * MOST_STATEMENTS:
                self._seen.clear()
            return None
        if len(self._names) == MOST_STATEMENTS:
            oldest = next(iter(self._names))
            self.command(f"DEALLOCATE {self._names[oldest].decode()}")
            del self._names[oldest]
        self._number += 1
        name = f"patchbay_{self._number}".encode()
        self._checked(self._link.prepare(name, key[0].encode(), key[1]))
        del self._seen[key]
        self._names[key] = name
        return name

    def _checked(self, result: PGresult) -> PGresult:
        if result.status in _FINE:
            return result
        if self._link.status == ConnStatus.BAD and not result.error_field(DiagnosticField.SQLSTATE):
            raise psycopg.OperationalError(result.get_error_message())  # the server did not live to say it
        raise error_from_result(result)
