"""Which tables and columns a PostgreSQL account sees, for the form of a query."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from webapp.service.outbound.guard import Guard
from webapp.service.outbound.postgres import PostgresAccount, PostgresOutcome, connected

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


def tables(guard: Guard, account: PostgresAccount, *, deadline_s: float = 15.0) -> tuple[Table, ...] | PostgresOutcome:
    """The tables and views that the account sees, its own schema first, of at most 5,000 columns; or why not."""
    return connected(
        guard,
        account,
        deadline_s,
        lambda connection, _: tuple(_tables(connection.execute(_COLUMNS, (MAX_COLUMNS,)).fetchall())),
    )


def _tables(rows: Iterable[tuple[Any, ...]]) -> Iterable[Table]:
    """The rows of `_COLUMNS`, which stand in the order of their tables, put together."""
    for (schema, name, own, count), found in itertools.groupby(rows, lambda row: (row[0], row[1], row[6], row[7])):
        columns = tuple(Column(row[2], row[3], row[4], row[5]) for row in found)
        rows_known = count if count is not None and count >= 0 else None  # -1: never counted
        yield Table(schema, name, name if own else f"{schema}.{name}", rows_known, columns)
