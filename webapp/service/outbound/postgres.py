"""A PostgreSQL account: connects to its server through the guard, tells whether the account works, and runs
statements.

The name is looked up and checked once and libpq connects to that address (``hostaddr``), while the certificate is
checked against the name. No file, service or client certificate of the machine is used. A server that stalls is cut
off at the deadline, and a statement that is still running then is cancelled on the server as well.

Rows come as JSON has them; a value that JSON has no type for comes as PostgreSQL writes it: numeric, dates and
times, uuid, ranges. What a statement may do is for the role to decide: nothing here reads SQL.
"""

import math
import os
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import certifi
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg.types.string import TextLoader

from webapp.kit.clock import Deadline
from webapp.kit.sentences import marked
from webapp.service.outbound.databases import (
    CANCEL_S,
    MAX_COLUMNS,
    MAX_ROWS,
    DatabaseAccount,
    DatabaseOutcome,
    Rows,
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
DEFAULT_PORT = 5432
# What the server says of the credentials (appendix A, class 28) or of the database and its permissions.
_REFUSALS = {
    "28P01": "PostgreSQL refused the user name or password. Check both.",
    "28000": "PostgreSQL does not let this user in from here. Check the user and the server's access rules.",
    "3D000": "There is no database of that name on the server. Check the name.",
    "42501": "This user may not connect to that database. Ask its owner for the right to connect.",
}
_CANCELLED = "57014"
_AS_JSON = frozenset({"bool", "int2", "int4", "int8", "oid", "float4", "float8", "json", "jsonb"})
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


def check(guard: Guard, account: DatabaseAccount, *, deadline_s: float = 10.0) -> DatabaseOutcome:
    """Connect and run `select current_user, version()`, all within `deadline_s` seconds."""
    return connected(guard, account, deadline_s, lambda connection, _: _ask(account, connection))


def connected(
    guard: Guard, account: DatabaseAccount, deadline_s: float, work: Callable[[psycopg.Connection[Any], Deadline], T]
) -> T | DatabaseOutcome:
    """The result of `work`, given a connection that is cut off at the deadline; or why no connection came about."""
    deadline = Deadline(deadline_s)
    addresses = pinned(guard, account, deadline)
    if isinstance(addresses, DatabaseOutcome):
        return addresses
    try:
        with _connect(account, addresses, deadline) as connection, Watchdog(connection.fileno(), deadline):
            return work(connection, deadline)
    except TimeoutError:
        return unavailable(account, marked("did not answer in time"))
    except psycopg.Error as error:
        _let_go(error)
        return _explain(account, error)


def _ask(account: DatabaseAccount, connection: psycopg.Connection[Any]) -> DatabaseOutcome:
    row = connection.execute("select current_user::text, version()").fetchone()
    if row is None:
        return unavailable(account, marked("did not answer the test query"))
    return DatabaseOutcome("ok", "", str(row[0]), str(row[1]))


def _connect(
    account: DatabaseAccount, addresses: list[str], deadline: Deadline
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


def _explain(account: DatabaseAccount, error: psycopg.Error) -> DatabaseOutcome:
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
        return unavailable(account, marked("has a certificate that is not trusted"))
    if "ssl" in text:
        return unavailable(account, marked("does not offer the encryption that was asked for"))
    if "timeout" in text:
        return unavailable(account, marked("did not answer in time"))
    return unavailable(account, marked("accepts no PostgreSQL connection on that port"))


def query(
    guard: Guard,
    account: DatabaseAccount,
    statement: str,
    params: Sequence[Any] = (),
    *,
    deadline_s: float = 20.0,
    max_rows: int = MAX_ROWS,
) -> Rows | Failure:
    """Run a statement, with `$1`, `$2` … standing for `params` (JSON values), committed when it succeeds.

    Without params there may be several: they succeed or fail as one, and the last one's rows come back. A Failure's
    sentence is the server's own word on the statement, or why no server could be asked.
    """
    result = connected(guard, account, deadline_s, lambda link, left: _run(link, left, statement, params, max_rows))
    return Failure("connect", result.sentence) if isinstance(result, DatabaseOutcome) else result


def _run(
    connection: psycopg.Connection[Any], deadline: Deadline, statement: str, params: Sequence[Any], max_rows: int
) -> Rows | Failure:
    _load_as_json(connection)
    cancel = threading.Timer(max(0.0, deadline.remaining() - CANCEL_S), connection.cancel_safe)
    cancel.daemon = True
    cancel.start()
    try:
        return _read(connection, statement, params, max_rows)
    except psycopg.Error as error:
        if error.sqlstate is None and connection.broken:
            raise  # the connection's end, not the statement's
        connection.close()  # a refused COPY leaves it unable to end in any other way
        return Failure("bad_response", _sentence(error))
    except UnicodeEncodeError:
        return Failure("bad_response", "The query or a parameter contains a character that is not text. Type it again.")
    finally:
        cancel.cancel()
        cancel.join()


def _read(connection: psycopg.Connection[Any], statement: str, params: Sequence[Any], max_rows: int) -> Rows:
    with psycopg.RawCursor(connection, row_factory=dict_row) as cursor:
        cursor.execute(statement.encode(), [_adapted(param) for param in params] or None)
        while cursor.nextset():
            pass
        kept = tuple(cursor.fetchmany(max_rows)) if cursor.description else ()
        return Rows(kept, max(0, cursor.rowcount), (cursor.statusmessage or "").partition(" ")[0])


def _adapted(value: Any) -> Any:
    """Objects go as JSON; a list goes as an array, unless it holds what an array cannot."""
    nested = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    return Jsonb(value) if isinstance(value, dict) or nested else value


class _Float(Loader):
    """A float; NaN and the infinities, which JSON lacks, as PostgreSQL writes them."""

    def load(self, data: Buffer) -> float | str:
        number = float(bytes(data))
        return number if math.isfinite(number) else bytes(data).decode("ascii")


def _load_as_json(connection: psycopg.Connection[Any]) -> None:
    adapters = connection.adapters
    for type_ in adapters.types:
        if type_.name not in _AS_JSON:
            adapters.register_loader(type_.oid, TextLoader)
    for name in ("float4", "float8"):
        adapters.register_loader(name, _Float)


def _sentence(error: psycopg.Error) -> str:
    if error.sqlstate == _CANCELLED:
        return "The query took too long and was stopped. Make it smaller, such as by a LIMIT."
    message = (error.diag.message_primary or str(error)).strip().rstrip(".")
    hint = f" ({error.diag.message_hint.rstrip('.')})" if error.diag.message_hint else ""
    return f"PostgreSQL refused the query: {message}{hint}."


def tables(guard: Guard, account: DatabaseAccount, *, deadline_s: float = 15.0) -> tuple[Table, ...] | DatabaseOutcome:
    """The tables and views that the account sees, its own schema first, of at most 5,000 columns; or why not."""
    return connected(
        guard,
        account,
        deadline_s,
        lambda connection, _: tuple(tables_of(connection.execute(_COLUMNS, (MAX_COLUMNS,)).fetchall())),
    )
