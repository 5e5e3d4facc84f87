"""What the kinds of databases share: the account, rows and tables, the guard, the deadline, and sentences for
errors.

:data:`ENGINES` has the kinds of databases by their name in ``[test]`` of an app. Their drivers are slow to import, so
each is imported when an account first needs it.
"""

import itertools
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from webapp.kit.clock import Deadline
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.urls import parse_port

MAX_ROWS = 1000
MAX_COLUMNS = 5_000
CANCEL_S = 1.0  # how long before the deadline the server is told to stop a statement
SSLMode = Literal["disable", "prefer", "require", "verify-full"]
MAX_ADDRESSES = 2


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a statement: its first rows, the number of all rows (or changed rows), and the command.

    ``last_id`` is the number that the server gave a new row, or None.
    """

    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    count: int
    command: str
    last_id: int | None = None

    @property
    def cut(self) -> bool:
        """Whether there were more rows than those returned."""
        return bool(self.rows) and self.count > len(self.rows)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; `kind` is its data type in the server's words."""

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


def tables_of(rows: Iterable[tuple[Any, ...]]) -> Iterator[Table]:
    """The tables of ``rows``, one for each column in the order of the tables: schema, table, column, type, whether it
    may be null, its default, whether the schema is the account's own, and how many rows the table has."""
    for (schema, name, own, count), group in itertools.groupby(rows, lambda row: (row[0], row[1], row[6], row[7])):
        columns = tuple(Column(row[2], row[3], bool(row[4]), row[5]) for row in group)
        rows_known = count if count is not None and count >= 0 else None  # -1: never counted
        yield Table(schema, name, name if own else f"{schema}.{name}", rows_known, columns)


@dataclass(frozen=True, slots=True)
class DatabaseAccount:
    """The server and user of an account. `ssl_mode` as in libpq; with prefer, the server decides."""

    host: str
    user: str
    password: str = field(repr=False)
    database: str
    port: int
    ssl_mode: SSLMode = "prefer"


@dataclass(frozen=True, slots=True)
class DatabaseOutcome:
    """ok with the server's user and version; refused: the credentials are wrong; trouble: no usable server."""

    kind: Literal["ok", "refused", "trouble"]
    sentence: str = ""
    user: str = ""
    version: str = ""


def account_of(values: Mapping[str, str], default_port: int) -> DatabaseAccount | None:
    """The server and user from the fields ``values`` of an account; None if the port is invalid."""
    port = parse_port(values.get("port") or str(default_port))
    if port is None:
        return None
    return DatabaseAccount(
        host=values.get("host", ""),
        user=values.get("user", ""),
        password=values.get("password", ""),
        database=values.get("database", ""),
        port=port,
        ssl_mode=next((mode for mode in get_args(SSLMode) if mode == values.get("ssl_mode")), "prefer"),
    )


def pinned(guard: Guard, account: DatabaseAccount, deadline: Deadline) -> list[str] | DatabaseOutcome:
    """The addresses to connect to, looked up and checked once; or why there is none."""
    if "\x00" in account.user + account.password + account.database:
        return DatabaseOutcome("refused", "A field contains an invisible character. Type it again.")
    addresses = guard.pin_host(account.host, account.port, deadline)
    if isinstance(addresses, Failure):
        return DatabaseOutcome("trouble", addresses.sentence)
    return [str(address) for address in addresses[:MAX_ADDRESSES]]


def unavailable(account: DatabaseAccount, what: str) -> DatabaseOutcome:
    """The outcome for a server without a usable connection.

    ``what`` completes "The server …", such as "did not answer in time".
    """
    return DatabaseOutcome("trouble", f"The server {account.host} {what}. Check host and port, or try again later.")


class Watchdog:
    """Cuts a connection's socket off at the deadline, since a driver has no limit for a server that stalls."""

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


class Engine(Protocol):
    """The functions of a kind of database."""

    @property
    def DEFAULT_PORT(self) -> int:
        """The port of a server unless its account names another."""

    def check(self, guard: Guard, account: DatabaseAccount, *, deadline_s: float = 10.0) -> DatabaseOutcome:
        """Test the account within `deadline_s` seconds."""

    def query(
        self, guard: Guard, account: DatabaseAccount, statement: str, params: Sequence[Any] = ()
    ) -> Rows | Failure:
        """Run a statement and commit it if it succeeds; else the Failure's sentence says why."""

    def tables(self, guard: Guard, account: DatabaseAccount) -> tuple[Table, ...] | DatabaseOutcome:
        """The tables and views that the account sees, its own schema first; or why not."""


def _postgres() -> Engine:
    from webapp.service.outbound import postgres

    return postgres


def _mysql() -> Engine:
    from webapp.service.outbound import mysql

    return mysql


ENGINES: Mapping[str, Callable[[], Engine]] = {"mysql": _mysql, "postgres": _postgres}
