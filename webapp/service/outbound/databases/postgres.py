"""A PostgreSQL account: connects to its server through the guard, and tells whether the account works.

The name is looked up and checked once and libpq connects to that address (`hostaddr`), while the certificate is
checked against the name. No file, service or client certificate of the machine is used. A server that stalls is
cut off at the deadline.
"""

import os
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import certifi

from webapp.kit.clock import Deadline
from webapp.kit.sentences import marked
from webapp.service.outbound.databases.accounts import DatabaseAccount, DatabaseOutcome, Watchdog, pinned, trouble
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.urls import parse_host

if TYPE_CHECKING:
    import psycopg  # slow to import, so only once an account needs it

T = TypeVar("T")
DEFAULT_PORT = 5432
# What the server says of the credentials (appendix A, class 28) or of the database and its permissions.
_REFUSALS = {
    "28P01": "PostgreSQL refused the user name or password. Check both.",
    "28000": "PostgreSQL does not let this user in from here. Check the user and the server's access rules.",
    "3D000": "There is no database of that name on the server. Check the name.",
    "42501": "This user may not connect to that database. Ask its owner for the right to connect.",
}


def check(guard: Guard, account: DatabaseAccount, *, deadline_s: float = 10.0) -> DatabaseOutcome:
    """Connect and run `select current_user, version()`, all within `deadline_s` seconds."""
    return connected(guard, account, deadline_s, lambda connection, _: _ask(account, connection))


def connected(
    guard: Guard, account: DatabaseAccount, deadline_s: float, work: "Callable[[psycopg.Connection[Any], Deadline], T]"
) -> T | DatabaseOutcome:
    """The result of `work`, given a connection that is cut off at the deadline; or why no connection came about."""
    import psycopg

    deadline = Deadline(deadline_s)
    addresses = pinned(guard, account, deadline)
    if isinstance(addresses, DatabaseOutcome):
        return addresses
    try:
        with _connect(account, addresses, deadline) as connection, Watchdog(connection.fileno(), deadline):
            return work(connection, deadline)
    except TimeoutError:
        return trouble(account, marked("did not answer in time"))
    except psycopg.Error as error:
        _let_go(error)
        return _explain(account, error)


def _ask(account: DatabaseAccount, connection: "psycopg.Connection[Any]") -> DatabaseOutcome:
    row = connection.execute("select current_user::text, version()").fetchone()
    if row is None:
        return trouble(account, marked("did not answer the test query"))
    return DatabaseOutcome("ok", "", str(row[0]), str(row[1]))


def _connect(
    account: DatabaseAccount, addresses: list[str], deadline: Deadline
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


def _explain(account: DatabaseAccount, error: "psycopg.Error") -> DatabaseOutcome:
    """libpq gives a failed connection no SQLSTATE, only the server's text, so that is looked at as well."""
    text = str(error).lower()
    if error.sqlstate in _REFUSALS:
        return DatabaseOutcome("refused", _REFUSALS[error.sqlstate])
    if "password authentication failed" in text or "no password supplied" in text:
        return DatabaseOutcome("refused", _REFUSALS["28P01"])
    if "no pg_hba.conf entry" in text or ("role" in text and "does not exist" in text):
        return DatabaseOutcome("refused", _REFUSALS["28000"])
    if "database" in text and "does not exist" in text:
        return DatabaseOutcome("refused", _REFUSALS["3D000"])
    if "permission denied for database" in text:
        return DatabaseOutcome("refused", _REFUSALS["42501"])
    if "certificate" in text:
        return trouble(account, marked("has a certificate that is not trusted"))
    if "ssl" in text:
        return trouble(account, marked("does not offer the encryption that was asked for"))
    if "timeout" in text:
        return trouble(account, marked("did not answer in time"))
    return trouble(account, marked("accepts no PostgreSQL connection on that port"))
