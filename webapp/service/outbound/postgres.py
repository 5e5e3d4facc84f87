"""A PostgreSQL account: connects to its server through the guard, and tells whether the account works.

The name is looked up and checked once and libpq connects to that address (`hostaddr`), while the certificate is
checked against the name. No file, service or client certificate of the machine is used. A server that stalls is
cut off at the deadline.
"""

import os
import socket
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import certifi

from webapp.kit.clock import Deadline
from webapp.kit.sentences import marked
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_host

if TYPE_CHECKING:
    import psycopg  # slow to import, so only once an account needs it

T = TypeVar("T")
SSLMode = Literal["disable", "prefer", "require", "verify-full"]
MAX_ADDRESSES = 2
# What the server says of the credentials (appendix A, class 28) or of the database and its permissions.
_REFUSALS = {
    "28P01": "PostgreSQL refused the user name or password. Check both.",
    "28000": "PostgreSQL does not let this user in from here. Check the user and the server's access rules.",
    "3D000": "There is no database of that name on the server. Check the name.",
    "42501": "This user may not connect to that database. Ask its owner for the right to connect.",
}


@dataclass(frozen=True, slots=True)
class PostgresAccount:
    """Where and as whom to connect. `ssl_mode` as in libpq; prefer takes what the server offers."""

    host: str
    user: str
    password: str = field(repr=False)
    database: str
    port: int = 5432
    ssl_mode: SSLMode = "prefer"


@dataclass(frozen=True, slots=True)
class PostgresOutcome:
    """ok with the server's user and version; refused: the credentials are wrong; trouble: no usable server."""

    kind: Literal["ok", "refused", "trouble"]
    sentence: str = ""
    user: str = ""
    version: str = ""


def check_postgres(guard: Guard, account: PostgresAccount, *, deadline_s: float = 10.0) -> PostgresOutcome:
    """Connect and run `select current_user, version()`, all within `deadline_s` seconds."""
    return connected(guard, account, deadline_s, lambda connection, _: _ask(account, connection))


def connected(
    guard: Guard, account: PostgresAccount, deadline_s: float, work: "Callable[[psycopg.Connection[Any], Deadline], T]"
) -> T | PostgresOutcome:
    """The result of `work`, given a connection that is cut off at the deadline; or why no connection came about."""
    import psycopg

    deadline = Deadline(deadline_s)
    if "\x00" in account.user + account.password + account.database:
        return PostgresOutcome("refused", "A field holds an invisible character. Type it again.")
    addresses = guard.pin_host(account.host, account.port, deadline)
    if isinstance(addresses, Failure):
        return PostgresOutcome("trouble", addresses.sentence)
    try:
        literals = [str(address) for address in addresses[:MAX_ADDRESSES]]
        with _connect(account, literals, deadline) as connection, _Watchdog(connection.fileno(), deadline):
            return work(connection, deadline)
    except TimeoutError:
        return _trouble(account, marked("did not answer in time"))
    except psycopg.Error as error:
        _let_go(error)
        return _explain(account, error)


def _ask(account: PostgresAccount, connection: "psycopg.Connection[Any]") -> PostgresOutcome:
    row = connection.execute("select current_user::text, version()").fetchone()
    if row is None:
        return _trouble(account, marked("did not answer the test query"))
    return PostgresOutcome("ok", "", str(row[0]), str(row[1]))


def _connect(
    account: PostgresAccount, addresses: list[str], deadline: Deadline
) -> "psycopg.Connection[tuple[object, ...]]":
    import psycopg

    return psycopg.connect(
        host=",".join([str(parse_host(account.host))] * len(addresses)),
        hostaddr=",".join(addresses),
        port=account.port,
        user=account.user,
        password=account.password,
        dbname=account.database,
        sslmode=account.ssl_mode,
        sslrootcert=certifi.where(),
        sslcertmode="disable",  # never offer a client certificate that lies in the home folder
        gssencmode="disable",
        passfile=os.devnull,
        application_name="patchbay",
        client_encoding="UTF8",
        connect_timeout=max(2, int(deadline.remaining() / len(addresses))),
        autocommit=True,
    )


def _let_go(error: "psycopg.Error") -> None:
    """Close what a failed attempt left open now: the error's frames hold the socket until the next collection."""
    cause: BaseException | None = error
    while cause is not None:
        traceback.clear_frames(cause.__traceback__)
        cause = cause.__context__


class _Watchdog:
    """Cuts a connection's socket off at the deadline: libpq has no limit for a server that stalls in a query."""

    def __init__(self, fileno: int, deadline: Deadline) -> None:
        self._socket = socket.socket(fileno=os.dup(fileno))
        self._timer = threading.Timer(deadline.remaining(), self._cut)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        self._socket.close()

    def _cut(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


def _explain(account: PostgresAccount, error: "psycopg.Error") -> PostgresOutcome:
    """libpq gives a failed connection no SQLSTATE, only the server's text, so that is looked at as well."""
    text = str(error).lower()
    if error.sqlstate in _REFUSALS:
        return PostgresOutcome("refused", _REFUSALS[error.sqlstate])
    if "password authentication failed" in text or "no password supplied" in text:
        return PostgresOutcome("refused", _REFUSALS["28P01"])
    if "no pg_hba.conf entry" in text or ("role" in text and "does not exist" in text):
        return PostgresOutcome("refused", _REFUSALS["28000"])
    if "database" in text and "does not exist" in text:
        return PostgresOutcome("refused", _REFUSALS["3D000"])
    if "permission denied for database" in text:
        return PostgresOutcome("refused", _REFUSALS["42501"])
    if "certificate" in text:
        return _trouble(account, marked("has a certificate that is not trusted"))
    if "ssl" in text:
        return _trouble(account, marked("does not offer the encryption that was asked for"))
    if "timeout" in text:
        return _trouble(account, marked("did not answer in time"))
    return _trouble(account, marked("accepts no PostgreSQL connection on that port"))


def _trouble(account: PostgresAccount, what: str) -> PostgresOutcome:
    return PostgresOutcome("trouble", f"The server {account.host} {what}. Check host and port, or try again later.")
