"""A MySQL or MariaDB account: connects to its server through the guard, tells whether the account works, and runs
statements.

The name is looked up and checked once and the socket goes to that address, while the certificate is checked against
the name. No option file of the machine is read, no file of it is ever sent (``LOCAL INFILE``), and one statement is
sent at a time. A password is sent as it is only where the connection is encrypted. A server that stalls is cut off
at the deadline, and a statement that is still running then is stopped on the server as well.

Rows come as JSON has them; a value that JSON has no type for comes as MySQL writes it: decimals, dates and times;
bytes as ``0xFF00``. Parameters are the server's own (``PREPARE``), so they never become part of a statement. What a
statement may do is for the user's rights to decide: nothing here reads SQL.
"""

import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

import certifi
import pymysql
from pymysql.constants import CLIENT, CR, ER
from pymysql.constants import FIELD_TYPE as TYPE
from pymysql.converters import encoders
from pymysql.cursors import SSDictCursor

from webapp.kit.clock import Deadline
from webapp.kit.sentences import marked
from webapp.service.outbound.databases import (
    CANCEL_S,
    MAX_COLUMNS,
    MAX_ROWS,
    DatabaseAccount,
    DatabaseOutcome,
    Rows,
    SSLMode,
    Table,
    Watchdog,
    pinned,
    tables_of,
    unavailable,
)
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.urls import parse_host

T = TypeVar("T")
DEFAULT_PORT = 3306
MAX_BYTES = 16 * 1024 * 1024  # of answers to what Patchbay itself asks
# What the driver raises, too, for a peer that breaks off or is no MySQL.
_DRIVER_ERRORS = (
    pymysql.Error, RuntimeError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError,
    struct.error,
)  # fmt: skip
# https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
_REFUSALS = {
    ER.ACCESS_DENIED_ERROR: "MySQL refused the user name or password. Check both.",
    1698: "MySQL refused the user name or password. Check both.",  # ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    ER.HOST_NOT_PRIVILEGED: "MySQL does not let this user in from here. Check the user and the server's access rules.",
    ER.BAD_DB_ERROR: "There is no database of that name on the server. Check the name.",
    ER.DBACCESS_DENIED_ERROR: "This user may not connect to that database. Ask its owner for the right to connect.",
    1820: "This user's password has expired. Set a new one.",  # ER_MUST_CHANGE_PASSWORD
    1862: "This user's password has expired. Set a new one.",  # ER_MUST_CHANGE_PASSWORD_LOGIN
}
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


class Connection(pymysql.connections.Connection):
    """A connection that takes ``max_bytes`` at most, where that is a number, and remembers its ``address``."""

    address = ""
    max_bytes: int | None = None

    def _read_bytes(self, num_bytes: int) -> bytes:
        if self.max_bytes is not None:
            self.max_bytes -= num_bytes
            if self.max_bytes < 0:
                self._force_close()  # type: ignore[attr-defined]  # of the driver, which its types leave out
                raise pymysql.OperationalError(CR.CR_SERVER_LOST, "The answer is too large")
        return bytes(super()._read_bytes(num_bytes))  # type: ignore[misc]

    def _create_ssl_ctx(self, chosen: object) -> ssl.SSLContext:
        """The context that was chosen; the driver's own would read the machine's authorities and not use them."""
        return chosen if isinstance(chosen, ssl.SSLContext) else _unverified()


class _PlainPassword:
    """The sign-in that sends the password itself (`mysql_clear_password`, and MariaDB's `dialog`)."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def authenticate(self, _: Any) -> Any:
        """Send it over an encrypted connection. Raises ``pymysql.OperationalError`` over any other."""
        if not self._connection._secure:
            raise pymysql.OperationalError(CR.CR_SSL_CONNECTION_ERROR, "This sign-in needs an encrypted connection")
        self._connection.write_packet(self._connection.password + b"\0")
        return self._connection._read_packet()


def check(guard: Guard, account: DatabaseAccount, *, deadline_s: float = 10.0) -> DatabaseOutcome:
    """Connect and run `select current_user(), version()`, all within `deadline_s` seconds."""
    return connected(guard, account, deadline_s, lambda connection, _: _ask(account, connection), MAX_BYTES)


def connected(
    guard: Guard,
    account: DatabaseAccount,
    deadline_s: float,
    work: Callable[[Connection, Deadline], T],
    max_bytes: int | None = None,
) -> T | DatabaseOutcome:
    """The result of `work`, given a connection that is cut off at the deadline; or why no connection came about."""
    deadline = Deadline(deadline_s)
    addresses = pinned(guard, account, deadline)
    if isinstance(addresses, DatabaseOutcome):
        return addresses
    try:
        for address in addresses[:-1]:
            with suppress(ConnectionError):
                return _at(account, address, deadline, work, max_bytes)
        return _at(account, addresses[-1], deadline, work, max_bytes)
    except TimeoutError:
        return unavailable(account, marked("did not answer in time"))
    except OSError:
        return unavailable(account, marked("accepts no MySQL connection on that port"))
    except _DRIVER_ERRORS as error:
        return _explain(account, error, deadline)


def stop(account: DatabaseAccount, address: str, thread_id: int, seconds: float) -> None:
    """Stop the statement of another connection at the server, as far as that can be done in so many seconds."""
    deadline = Deadline(seconds)
    with suppress(OSError, *_DRIVER_ERRORS):
        _at(account, address, deadline, lambda connection, _: connection.query(f"kill query {thread_id:d}"), MAX_BYTES)


def _ask(account: DatabaseAccount, connection: Connection) -> DatabaseOutcome:
    with connection.cursor() as cursor:
        cursor.execute("select current_user(), version()")
        row = cursor.fetchone()
    if row is None:
        return unavailable(account, marked("did not answer the test query"))
    return DatabaseOutcome("ok", "", str(row[0]), str(row[1]))


def _at(
    account: DatabaseAccount,
    address: str,
    deadline: Deadline,
    work: Callable[[Connection, Deadline], T],
    max_bytes: int | None,
) -> T:
    connection = _connection(account, deadline)
    connection.address, connection.max_bytes = address, max_bytes
    with (
        socket.create_connection((address, account.port), timeout=deadline.remaining()) as link,
        Watchdog(link.fileno(), deadline),
        connection,
    ):
        connection.connect(link)
        return work(connection, deadline)


def _connection(account: DatabaseAccount, deadline: Deadline) -> Connection:
    left = deadline.remaining()
    return Connection(
        host=str(parse_host(account.host)),
        user=account.user,
        password=account.password.encode(),
        database=account.database,
        port=account.port,
        charset="utf8mb4",
        client_flag=CLIENT.FOUND_ROWS,
        autocommit=True,
        defer_connect=True,
        local_infile=False,
        read_timeout=left,
        write_timeout=left,
        program_name="patchbay",
        auth_plugin_map={"mysql_clear_password": _PlainPassword, "dialog": _PlainPassword},
        ssl_disabled=account.ssl_mode == "disable",
        ssl=_encryption(account.ssl_mode),
    )


def _encryption(mode: SSLMode) -> ssl.SSLContext | None:
    """How the connection must be encrypted; None where it need not be, so that it is where the server can."""
    if mode == "verify-full":
        return _verified(certifi.where())
    return _unverified() if mode == "require" else None


@lru_cache(maxsize=2)
def _verified(ca_file: str) -> ssl.SSLContext:
    """One context for all connections: reading the authorities takes longer than a statement. Threads may share it."""
    return ssl.create_default_context(cafile=ca_file)


@lru_cache(maxsize=1)
def _unverified() -> ssl.SSLContext:
    """It encrypts without asking whose certificate it is, and needs no authorities."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _explain(account: DatabaseAccount, error: Exception, deadline: Deadline) -> DatabaseOutcome:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    cause = getattr(error, "original_exception", None)
    if code in _REFUSALS:
        return DatabaseOutcome("refused", _REFUSALS[code])
    if deadline.is_over or isinstance(cause, TimeoutError):
        return unavailable(account, marked("did not answer in time"))
    if isinstance(cause, ssl.SSLCertVerificationError):
        return unavailable(account, marked("has a certificate that is not trusted"))
    if code == CR.CR_SSL_CONNECTION_ERROR or isinstance(cause, ssl.SSLError):
        return unavailable(account, marked("does not offer the encryption that was asked for"))
    return unavailable(account, marked("accepts no MySQL connection on that port"))


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
        return Failure("bad_response", "The query or a parameter contains a character that is not text. Type it again.")
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
