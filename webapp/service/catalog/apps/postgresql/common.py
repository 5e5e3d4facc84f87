"""What the actions of PostgreSQL share: asking the account's server, and its tables and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from webapp.service.components.authoring import ComponentError, Context, Option, Options, string
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.postgres import PostgresAccount, SSLMode
from webapp.service.outbound.postgres_query import Rows, query

PER_PAGE = 100
# A table and a column are known by their quoted names, so that the value of an option can stand in a statement.
_TABLES = """
    select format('%I.%I', table_schema, table_name) as value, table_schema || '.' || table_name as label
    from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema')
        and strpos(lower(table_schema || '.' || table_name), lower($1)) > 0
    order by table_schema <> current_schema(), table_schema, table_name limit $2 offset $3"""
_COLUMNS = """
    select column_name as name, format('%I', column_name) as quoted, data_type as type,
        is_nullable = 'YES' or column_default is not null or is_identity = 'YES' as optional,
        is_generated = 'NEVER' and is_identity = 'NO' and is_updatable = 'YES' as writable
    from information_schema.columns where format('%I.%I', table_schema, table_name) = $1 order by ordinal_position"""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``quoted`` is its name in a statement, ``optional`` that a new row needs no value for it."""

    name: str
    quoted: str
    type: str
    optional: bool
    writable: bool


def ask(ctx: Context, statement: str, params: Sequence[Any] = ()) -> Rows:
    """Run a statement at the account's server. Raises :class:`ComponentError` with the server's own words."""
    result = query(ctx.guard, _account(ctx), statement, params)
    if isinstance(result, Failure):
        raise ComponentError(result.sentence)
    return result


def find_tables(ctx: Context) -> Options:
    """The tables and views that the account may see, those of its own schema first."""
    tables = ask(ctx, _TABLES, (ctx.query, PER_PAGE, ctx.page * PER_PAGE)).rows
    return Options([Option(table["label"], table["value"]) for table in tables])


def find_columns(ctx: Context) -> Options:
    """The columns of the chosen table, in one page."""
    table_columns = columns(ctx, ctx.props.table) if ctx.page == 0 else []
    return Options([Option(column.name, column.quoted) for column in table_columns])


def columns(ctx: Context, table: str | None) -> list[Column]:
    """The columns of a table. Raises :class:`ComponentError` unless ``table`` is one of :func:`find_tables`."""
    if not table:
        raise ComponentError("No table is chosen yet. Choose one first.")
    table_columns = [Column(**row) for row in ask(ctx, _COLUMNS, (table,)).rows]
    if not table_columns:
        raise ComponentError(f"There is no table {table} that this account may use. Choose one from the list.")
    return table_columns


def known(column: str, among: Sequence[Column]) -> str:
    """``column`` when it is one of these, fit to stand in a statement. Raises :class:`ComponentError`."""
    if column not in (column.quoted for column in among):
        raise ComponentError(f"The table has no column {column}. Choose one from the list.")
    return column


table = string(label="Table", options=find_tables, use_query=True)
column = string(label="Column", options=find_columns)


def _account(ctx: Context) -> PostgresAccount:
    auth = ctx.auth
    port = auth.get("port") or "5432"
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ComponentError("The port of this account is not a number from 1 to 65535. Reconnect the account.")
    mode: SSLMode = next((each for each in get_args(SSLMode) if each == auth.get("ssl_mode")), "prefer")
    return PostgresAccount(auth["host"], auth["user"], auth["password"], auth["database"], int(port), mode)
