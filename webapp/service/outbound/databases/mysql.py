"""A MySQL or MariaDB account: connects to its server through the guard, and tells whether the account works.

The name is looked up and checked once and the socket goes to that address, while the certificate is checked against
the name. No option file of the machine is read, no file of it is ever sent (`LOCAL INFILE`), and one statement is sent
at a time. A password is sent as it is only where the connection is encrypted. A server that stalls is cut off at the
deadline.
"""

import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import certifi
import pymysql
from pymysql.constants import CLIENT, CR, ER

from webapp.kit.clock import Deadline
from webapp.kit.sentences import marked
from webapp.service.outbound.databases.accounts import (
    DatabaseAccount,
    DatabaseOutcome,
    SSLMode,
    Watchdog,
    pinned,
    trouble,
)
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
        return trouble(account, marked("did not answer in time"))
    except OSError:
        return trouble(account, marked("accepts no MySQL connection on that port"))
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
        return trouble(account, marked("did not answer the test query"))
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
    if mode not in ("require", "verify-full"):
        return None
    context = ssl.create_default_context(cafile=certifi.where())
    if mode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _explain(account: DatabaseAccount, error: Exception, deadline: Deadline) -> DatabaseOutcome:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    cause = getattr(error, "original_exception", None)
    if code in _REFUSALS:
        return DatabaseOutcome("refused", _REFUSALS[code])
    if _over(deadline) or isinstance(cause, TimeoutError):
        return trouble(account, marked("did not answer in time"))
    if isinstance(cause, ssl.SSLCertVerificationError):
        return trouble(account, marked("has a certificate that is not trusted"))
    if code == CR.CR_SSL_CONNECTION_ERROR or isinstance(cause, ssl.SSLError):
        return trouble(account, marked("does not offer the encryption that was asked for"))
    return trouble(account, marked("accepts no MySQL connection on that port"))


def _over(deadline: Deadline) -> bool:
    try:
        return deadline.remaining() <= 0
    except TimeoutError:
        return True
