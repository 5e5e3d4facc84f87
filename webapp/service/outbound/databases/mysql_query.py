"""Statements for a MySQL or MariaDB account, and their rows as JSON has them.

A value that JSON has no type for comes as MySQL writes it: decimals, dates and times; bytes as `0xFF00`. A statement
that is still running at its deadline is stopped on the server as well. What the statement may do is the user's matter:
nothing here reads SQL. Parameters are the server's own (`PREPARE`), so they never become part of a statement.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pymysql
from pymysql.constants import FIELD_TYPE as TYPE
from pymysql.converters import encoders
from pymysql.cursors import SSDictCursor

from webapp.kit.clock import Deadline
from webapp.service.outbound.databases.accounts import DatabaseAccount, DatabaseOutcome
from webapp.service.outbound.databases.mysql import DEFAULT_PORT as DEFAULT_PORT
from webapp.service.outbound.databases.mysql import MAX_BYTES, Connection, connected, stop
from webapp.service.outbound.databases.mysql import check as check
from webapp.service.outbound.databases.rows import CANCEL_S, MAX_COLUMNS, MAX_ROWS, Rows, Table, tables_of
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure

_COMMAND = re.compile(r"(?>\s|\(|/\*.*?\*/|--[^\n]*\n|#[^\n]*\n)*+([a-z]+)", re.IGNORECASE | re.DOTALL)
# https://dev.mysql.com/doc/refman/8.4/en/information-schema-columns-table.html, …-tables-table.html
_COLUMNS = """
select c.table_schema, c.table_name, c.column_name, c.data_type, c.is_nullable = 'YES',
       nullif(c.column_default, 'NULL'),
       coalesce(c.table_schema = database(), 0), t.table_rows
from information_schema.columns c
left join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
where c.table_schema not in ('mysql', 'information_schema', 'performance_schema', 'sys')
order by coalesce(c.table_schema = database(), 0) desc, c.table_schema, c.table_name, c.ordinal_position
limit %s
"""


def query(
    guard: Guard,
    account: DatabaseAccount,
    statement: str,
    params: Sequence[Any] = (),
    *,
    deadline_s: float = 20.0,
    max_rows: int = MAX_ROWS,
) -> Rows | Failure:
    """Run a statement, with each `?` standing for one of `params` (JSON values), committed when it succeeds.

    A Failure's sentence is the server's own word on the statement, or why no server could be asked.
    """
    result = connected(
        guard, account, deadline_s, lambda link, left: _run(account, link, left, statement, params, max_rows)
    )
    return Failure("connect", result.sentence) if isinstance(result, DatabaseOutcome) else result


def tables(guard: Guard, account: DatabaseAccount, *, deadline_s: float = 15.0) -> tuple[Table, ...] | DatabaseOutcome:
    """The tables and views that the account sees, its own database first, of at most 5,000 columns; or why not."""

    def read(connection: Connection, _: Deadline) -> tuple[Table, ...]:
        with connection.cursor() as cursor:
            cursor.execute(_COLUMNS, (MAX_COLUMNS,))
            return tuple(tables_of(cursor.fetchall()))

    return connected(guard, account, deadline_s, read, MAX_BYTES)


def _run(
    account: DatabaseAccount,
    connection: Connection,
    deadline: Deadline,
    statement: str,
    params: Sequence[Any],
    max_rows: int,
) -> Rows | Failure:
    stopped = threading.Event()

    def stop_it() -> None:
        stopped.set()
        stop(account, connection.address, connection.thread_id(), CANCEL_S)  # type: ignore[no-untyped-call]

    timer = threading.Timer(max(0.0, deadline.remaining() - CANCEL_S), stop_it)
    timer.daemon = True
    timer.start()
    try:
        rows = _read(connection, statement, params, max_rows)
    except (pymysql.Error, RuntimeError) as error:
        if not connection.open and not stopped.is_set():
            raise  # the connection's end, not the statement's
        return Failure("bad_response", _TOO_LONG if stopped.is_set() else _sentence(error))
    except UnicodeEncodeError:
        return Failure("bad_response", "The query or a parameter holds a character that is not text. Type it again.")
    finally:
        timer.cancel()
        timer.join()
    # A statement that only sleeps ends well when it is stopped.
    return Failure("bad_response", _TOO_LONG) if stopped.is_set() else rows


def _read(connection: Connection, statement: str, params: Sequence[Any], max_rows: int) -> Rows:
    connection.decoders = _DECODERS
    with connection.cursor(SSDictCursor) as cursor:
        cursor.execute(_prepared(connection, cursor, statement, params) if params else statement)
        kept, count, last_id = _rows_of(cursor, max_rows)
        while cursor.nextset():
            if cursor.description:  # a procedure ends with an answer that has no rows
                kept, count, last_id = _rows_of(cursor, max_rows)
    command = _COMMAND.match(statement)
    return Rows(kept, count, command[1].upper() if command else "", last_id)


def _prepared(connection: Connection, cursor: Any, statement: str, params: Sequence[Any]) -> str:
    """The statement that executes ``statement``, which the server prepares, with ``params`` as variables of it."""
    cursor.execute(f"prepare patchbay from {connection.escape(statement)}")
    values = [connection.escape(_adapted(param), encoders) for param in params]
    names = [f"@patchbay_{number}" for number in range(len(params))]
    cursor.execute("set " + ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True)))
    return f"execute patchbay using {', '.join(names)}"


def _adapted(value: Any) -> Any:
    """Objects and lists go as JSON."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def _rows_of(cursor: Any, max_rows: int) -> tuple[tuple[Mapping[str, Any], ...], int, int | None]:
    """The first rows of a result, how many there are in all or were changed, and the number of a new row."""
    if not cursor.description:
        return (), max(0, cursor.rowcount), cursor.lastrowid or None
    kept = tuple(cursor.fetchmany(max_rows))
    count = len(kept)
    while some := cursor.fetchmany(max_rows):
        count += len(some)
    return kept, count, None


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else f"0x{value.hex().upper()}"


_TEXTS = (
    TYPE.DECIMAL, TYPE.NEWDECIMAL, TYPE.TIMESTAMP, TYPE.DATE, TYPE.TIME, TYPE.DATETIME, TYPE.NEWDATE, TYPE.VARCHAR,
    TYPE.ENUM, TYPE.SET, TYPE.TINY_BLOB, TYPE.MEDIUM_BLOB, TYPE.LONG_BLOB, TYPE.BLOB, TYPE.VAR_STRING, TYPE.STRING,
    TYPE.GEOMETRY,
)  # fmt: skip
_NUMBERS = (TYPE.TINY, TYPE.SHORT, TYPE.LONG, TYPE.LONGLONG, TYPE.INT24, TYPE.YEAR)
_DECODERS: dict[int, Callable[[Any], Any]] = {
    **dict.fromkeys(_TEXTS, _text),
    **dict.fromkeys(_NUMBERS, int),
    TYPE.FLOAT: float,
    TYPE.DOUBLE: float,
    TYPE.BIT: lambda value: int.from_bytes(value, "big"),
    TYPE.JSON: json.loads,
}
_TOO_LONG = "The query took too long and was stopped. Make it smaller, such as by a LIMIT."


def _sentence(error: Exception) -> str:
    if isinstance(error, RuntimeError):  # the driver's word on a server that asks for a file of this machine
        return "MySQL asked for a file of this machine, which is never sent. Write the rows into the query."
    message = " ".join(str(error.args[-1] if error.args else error).split()).rstrip(".")
    return f"MySQL refused the query: {message}."
