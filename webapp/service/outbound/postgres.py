"""A PostgreSQL account: whether it works, and which tables it sees. Connect through the guard, ask, hang up.

The name is looked up and checked once and libpq connects to that address (`hostaddr`), while the certificate is
checked against the name. No file, service or client certificate of the machine is used. A server that stalls is
cut off at the deadline.
"""

import itertools
import os
import socket
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import certifi
import psycopg

from webapp.service.outbound.deadline import Deadline
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_host

T = TypeVar("T")
SSLMode = Literal["disable", "prefer", "require", "verify-full"]
MAX_ADDRESSES = 2
MAX_COLUMNS = 5_000
# Every column of every table and view outside the system's own schemas; the rows are the planner's estimate.
# https://www.postgresql.org/docs/current/infoschema-columns.html, …/catalog-pg-class.html (reltuples)
_COLUMNS = """
select c.table_schema::text, c.table_name::text, c.column_name::text, c.data_type::text, c.is_nullable = 'YES',
       c.column_default::text, coalesce(c.table_schema = current_schema(), false),
       case when k.relkind <> 'v' then k.reltuples::bigint end
from information_schema.columns c
left join pg_catalog.pg_namespace n on n.nspname = c.table_schema
left join pg_catalog.pg_class k on k.relname = c.table_name and k.relnamespace = n.oid
where c.table_schema not in ('pg_catalog', 'information_schema')
order by c.table_schema <> current_schema(), c.table_schema, c.table_name, c.ordinal_position
limit %s
"""
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


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; `kind` is its data type in PostgreSQL's words."""

    name: str
    kind: str
    nullable: bool
    default: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view. `title` is how a statement names it; `rows` an estimate, None where there is none."""

    schema: str
    name: str
    title: str
    rows: int | None
    columns: tuple[Column, ...]


def check_postgres(guard: Guard, account: PostgresAccount, *, deadline_s: float = 10.0) -> PostgresOutcome:
    """Connect and run `select current_user, version()`, all within `deadline_s` seconds."""
    return _within(guard, account, deadline_s, lambda addresses, deadline: _ask(account, addresses, deadline))


def tables(guard: Guard, account: PostgresAccount, *, deadline_s: float = 15.0) -> tuple[Table, ...] | PostgresOutcome:
    """The tables and views that the account sees, its own schema first, of at most 5,000 columns; or why not."""
    return _within(guard, account, deadline_s, lambda addresses, deadline: _look(account, addresses, deadline))


def connected(
    guard: Guard, account: PostgresAccount, deadline_s: float, work: Callable[[psycopg.Connection[Any], Deadline], T]
) -> T | PostgresOutcome:
    """What `work` finds over a connection, hung up after it and cut off at the deadline; or why there is none."""

    def at(addresses: list[str], deadline: Deadline) -> T:
        with _connect(account, addresses, deadline) as connection, _Watchdog(connection.fileno(), deadline):
            return work(connection, deadline)

    return _within(guard, account, deadline_s, at)


def _within(
    guard: Guard, account: PostgresAccount, deadline_s: float, work: Callable[[list[str], Deadline], T]
) -> T | PostgresOutcome:
    """What `work` finds at the account's checked addresses, or what kept it from finding anything."""
    deadline = Deadline(deadline_s)
    if "\x00" in account.user + account.password + account.database:
        return PostgresOutcome("refused", "A field holds an invisible character. Type it again.")
    addresses = guard.pin_host(account.host, account.port, deadline)
    if isinstance(addresses, Failure):
        return PostgresOutcome("trouble", addresses.sentence)
    try:
        return work([str(address) for address in addresses[:MAX_ADDRESSES]], deadline)
    except TimeoutError:
        return _trouble(account, "did not answer in time")
    except psycopg.Error as error:
        _let_go(error)
        return _explain(account, error)


def _ask(account: PostgresAccount, addresses: list[str], deadline: Deadline) -> PostgresOutcome:
    with _connect(account, addresses, deadline) as connection, _Watchdog(connection.fileno(), deadline):
        row = connection.execute("select current_user::text, version()").fetchone()
    if row is None:
        return _trouble(account, "did not answer the test query")
    return PostgresOutcome("ok", "", str(row[0]), str(row[1]))


def _look(account: PostgresAccount, addresses: list[str], deadline: Deadline) -> tuple[Table, ...]:
    with _connect(account, addresses, deadline) as connection, _Watchdog(connection.fileno(), deadline):
        rows = connection.execute(_COLUMNS, (MAX_COLUMNS,)).fetchall()
    return tuple(_tables(rows))


def _tables(rows: Iterable[tuple[Any, ...]]) -> Iterable[Table]:
    """The rows of `_COLUMNS`, which stand in the order of their tables, put together."""
    for (schema, name, own, count), found in itertools.groupby(rows, lambda row: (row[0], row[1], row[6], row[7])):
        columns = tuple(Column(row[2], row[3], row[4], row[5]) for row in found)
        rows_known = count if count is not None and count >= 0 else None  # -1: never counted
        yield Table(schema, name, name if own else f"{schema}.{name}", rows_known, columns)


def _connect(
    account: PostgresAccount, addresses: list[str], deadline: Deadline
) -> psycopg.Connection[tuple[object, ...]]:
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


def _let_go(error: psycopg.Error) -> None:
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


def _explain(account: PostgresAccount, error: psycopg.Error) -> PostgresOutcome:
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
        return _trouble(account, "has a certificate that is not trusted")
    if "ssl" in text:
        return _trouble(account, "does not offer the encryption that was asked for")
    if "timeout" in text:
        return _trouble(account, "did not answer in time")
    return _trouble(account, "accepts no PostgreSQL connection on that port")


def _trouble(account: PostgresAccount, what: str) -> PostgresOutcome:
    return PostgresOutcome("trouble", f"The server {account.host} {what}. Check host and port, or try again later.")
