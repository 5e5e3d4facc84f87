"""What the actions and triggers of all databases share: asking the account's server, and its tables and columns.

A table and a column are known by their quoted names, as the server itself quotes them, so that the value of an option
can stand in a statement. Values go as parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.service.components.authoring import ComponentError, Context, Option, Options, string
from webapp.service.outbound.databases.accounts import account_of
from webapp.service.outbound.databases.engines import ENGINES
from webapp.service.outbound.databases.rows import Rows
from webapp.service.outbound.outcomes import Failure

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of database says what differs.

    ``tables`` takes a part of the name, how many and from where on; ``columns`` takes a table. ``mark`` stands for the
    parameter of a number. ``empty`` and ``returning`` end an insertion without values, and one that gives its row.
    ``upsert`` goes before the changes, with the columns of the key in it, and ``incoming`` is a column of the new row.
    """

    engine: str
    tables: str
    columns: str
    mark: str
    empty: str
    returning: str
    upsert: str
    incoming: str


POSTGRES = Dialect(
    engine="postgres",
    tables="""
        select format('%I.%I', table_schema, table_name) as value, table_schema || '.' || table_name as label
        from information_schema.tables
        where table_schema not in ('pg_catalog', 'information_schema')
            and strpos(lower(table_schema || '.' || table_name), lower($1)) > 0
        order by table_schema <> current_schema(), table_schema, table_name limit $2 offset $3""",
    columns="""
        select column_name as name, format('%I', column_name) as quoted, data_type as type,
            is_nullable = 'YES' or column_default is not null or is_identity = 'YES' as optional,
            is_generated = 'NEVER' and coalesce(identity_generation, '') <> 'ALWAYS' and is_updatable = 'YES'
                as writable,
            column_name in (
                select k.column_name from information_schema.key_column_usage k
                join information_schema.table_constraints t using (constraint_schema, constraint_name)
                where t.constraint_type = 'PRIMARY KEY'
                    and k.table_schema = c.table_schema and k.table_name = c.table_name) as in_key
        from information_schema.columns c where format('%I.%I', table_schema, table_name) = $1
        order by ordinal_position""",
    mark="${number}",
    empty="default values",
    returning=" returning *",
    upsert="on conflict ({key}) do update set",
    incoming="excluded.{column}",
)
MYSQL = Dialect(
    engine="mysql",
    tables="""
        select concat('`', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '`') as value,
            concat(table_schema, '.', table_name) as label
        from information_schema.tables
        where table_schema not in ('mysql', 'information_schema', 'performance_schema', 'sys')
            and locate(lower(?), lower(concat(table_schema, '.', table_name))) > 0
        order by table_schema <> database(), table_schema, table_name limit ? offset ?""",
    columns="""
        select column_name as name, concat('`', replace(column_name, '`', '``'), '`') as quoted,
            if(column_type = 'tinyint(1)', 'boolean', data_type) as type,
            is_nullable = 'YES' or column_default is not null or extra like '%auto_increment%' as optional,
            coalesce(generation_expression, '') = '' as writable, column_key = 'PRI' as in_key
        from information_schema.columns
        where concat('`', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '`') = ?
        order by ordinal_position""",
    mark="?",
    empty="() values ()",
    returning="",  # MariaDB has it, MySQL has not
    upsert="on duplicate key update",
    incoming="values({column})",
)
DIALECTS: Mapping[str, Dialect] = {"mysql": MYSQL, "postgresql": POSTGRES}  # by the slugs of their apps


@dataclass(frozen=True, slots=True)
class Column:
    """One column: ``quoted`` is its name in a statement, ``optional`` that a new row needs no value for it, ``in_key``
    that it belongs to the primary key."""

    name: str
    quoted: str
    type: str
    optional: bool
    writable: bool
    in_key: bool


class Params:
    """The values of a statement that is put together: each is written as its mark."""

    def __init__(self, ctx: Context) -> None:
        self._mark, self.values = dialect(ctx).mark, list[Any]()

    def add(self, value: Any) -> str:
        """The mark that stands for ``value``."""
        self.values.append(value)
        return self._mark.format(number=len(self.values))


def dialect(ctx: Context) -> Dialect:
    """That of the account's database."""
    return DIALECTS[ctx.account.app]


def ask(ctx: Context, statement: str, params: Sequence[Any] = ()) -> Rows:
    """Run a statement at the account's server. Raises :class:`ComponentError` with the server's own words."""
    engine = ENGINES[dialect(ctx).engine]()
    account = account_of(ctx.auth, engine.DEFAULT_PORT)
    if account is None:
        raise ComponentError("The port of this account is not a number from 1 to 65535. Reconnect the account.")
    result = engine.query(ctx.guard, account, statement, params)
    if isinstance(result, Failure):
        raise ComponentError(result.sentence)
    return result


def find_tables(ctx: Context) -> Options:
    """The tables and views that the account may see, those of its own schema first."""
    tables = ask(ctx, dialect(ctx).tables, (ctx.query, PER_PAGE, ctx.page * PER_PAGE)).rows
    return Options([Option(table["label"], table["value"]) for table in tables])


def find_columns(ctx: Context) -> Options:
    """The columns of the chosen table, in one page."""
    table_columns = columns(ctx, ctx.props.table) if ctx.page == 0 else []
    return Options([Option(column.name, column.quoted) for column in table_columns])


def columns(ctx: Context, table: str | None) -> list[Column]:
    """The columns of a table. Raises :class:`ComponentError` unless ``table`` is one of :func:`find_tables`."""
    if not table:
        raise ComponentError("No table is chosen yet. Choose one first.")
    table_columns = [Column(**row) for row in ask(ctx, dialect(ctx).columns, (table,)).rows]
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
