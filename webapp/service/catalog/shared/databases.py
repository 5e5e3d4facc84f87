"""The actions and the trigger that every database has. A component of an app is one of them with the app's account
and documentation.

Tables and columns are chosen by their quoted names, as the server itself quotes them, or named as they are; only what
the server quotes stands in a statement. Values go as parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.service.catalog.shared.hints import CREATES, DELETES, OVERWRITES, READS, counted
from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import (
    Action,
    ComponentError,
    Context,
    Option,
    Options,
    Prop,
    Trigger,
    any_,
    boolean,
    integer,
    object_,
    service_db,
    string,
    timer,
)
from webapp.service.outbound.databases import ENGINES, Rows, account_of
from webapp.service.outbound.failures import Failure

PER_PAGE = 100
_FIELD = "column_"
_TYPES = {
    "boolean": boolean,
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year"), integer),
    **dict.fromkeys(("json", "jsonb", "ARRAY"), any_),
}
_MATCH_HINT = "The rows whose column has the value are meant."
PAGE, MAX_PAGES = 100, 10
_LAST_VALUE = "since"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of database says what differs.

    ``tables`` takes a part of the name, how many and from where on; ``columns`` takes a table's quoted name, its plain
    name and its schema, or null for that of the account. ``mark`` stands for the
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
        select format('%I.%I', table_schema, table_name) as table_name,
            column_name as name, format('%I', column_name) as quoted, data_type as type,
            is_nullable = 'YES' or column_default is not null or is_identity = 'YES' as optional,
            is_generated = 'NEVER' and coalesce(identity_generation, '') <> 'ALWAYS' and is_updatable = 'YES'
                as writable,
            column_name in (
                select k.column_name from information_schema.key_column_usage k
                join information_schema.table_constraints t using (constraint_schema, constraint_name)
                where t.constraint_type = 'PRIMARY KEY'
                    and k.table_schema = c.table_schema and k.table_name = c.table_name) as in_key
        from information_schema.columns c
        where format('%I.%I', table_schema, table_name) = $1
            or table_name = $2 and table_schema = coalesce($3, current_schema())
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
        select concat('`', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '`') as table_name,
            column_name as name, concat('`', replace(column_name, '`', '``'), '`') as quoted,
            if(column_type = 'tinyint(1)', 'boolean', data_type) as type,
            is_nullable = 'YES' or column_default is not null or extra like '%auto_increment%' as optional,
            coalesce(generation_expression, '') = '' as writable, column_key = 'PRI' as in_key
        from information_schema.columns
        where concat('`', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '`') = ?
            or table_name = ? and table_schema = coalesce(?, database())
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


@dataclass(frozen=True, slots=True)
class Table:
    """One table: ``name`` is its quoted name, with its schema."""

    name: str
    columns: Sequence[Column]

    def column(self, name: str) -> Column:
        """The column with a quoted or plain name. Raises :class:`ComponentError`."""
        quoted = {column.quoted: column for column in self.columns}
        column = quoted.get(name) or next((column for column in self.columns if column.name == name), None)
        if column is None:
            raise ComponentError(f"The table has no column {name}. Choose one from the list.")
        return column

    @property
    def key(self) -> list[Column]:
        """The columns of the primary key."""
        return [column for column in self.columns if column.in_key]


class Params:
    """The values of a statement that is put together: each is written as its mark."""

    def __init__(self, ctx: Context) -> None:
        self._mark, self.values = _dialect(ctx).mark, list[Any]()

    def add(self, value: Any) -> str:
        """The mark that stands for ``value``."""
        self.values.append(value)
        return self._mark.format(number=len(self.values))


def _dialect(ctx: Context) -> Dialect:
    """That of the account's database."""
    return DIALECTS[ctx.account.app]


def ask(ctx: Context, statement: str, params: Sequence[Any] = ()) -> Rows:
    """Run a statement at the account's server. Raises :class:`ComponentError` with the server's own words."""
    engine = ENGINES[_dialect(ctx).engine]()
    account = account_of(ctx.auth, engine.DEFAULT_PORT)
    if account is None:
        raise ComponentError("The port of this account is not a number from 1 to 65535. Reconnect the account.")
    result = engine.query(ctx.guard, account, statement, params)
    if isinstance(result, Failure):
        raise ComponentError(result.sentence)
    return result


def _find_tables(ctx: Context) -> Options:
    """The tables and views that the account may see, those of its own schema first."""
    tables = ask(ctx, _dialect(ctx).tables, (ctx.query, PER_PAGE, ctx.page * PER_PAGE)).rows
    return Options([Option(table["label"], table["value"]) for table in tables])


def find_columns(ctx: Context) -> Options:
    """The columns of the chosen table, in one page."""
    columns = _chosen_table(ctx).columns if ctx.page == 0 else []
    return Options([Option(column.name, column.quoted) for column in columns])


def _chosen_table(ctx: Context) -> Table:
    """The table of the props ``table`` and ``schema``; the quoted name of one comes before the plain name of another.

    Raises :class:`ComponentError` if the account may use no such table.
    """
    chosen, schema = ctx.props.table, ctx.props.get("schema")
    if not chosen:
        raise ComponentError("No table is chosen yet. Choose one first.")
    rows = [dict(row) for row in ask(ctx, _dialect(ctx).columns, (chosen, chosen, schema)).rows]
    columns: dict[str, list[Column]] = {}
    for row in rows:
        columns.setdefault(row.pop("table_name"), []).append(Column(**row))
    if not columns:
        raise ComponentError(f"There is no table {chosen} that this account may use. Choose one from the list.")
    name = chosen if chosen in columns else next(iter(columns))
    return Table(name, columns[name])


table_prop = string(label="Table", options=_find_tables, use_query=True)
column_prop = string(label="Column", options=find_columns)
row_prop = object_(
    label="Values by column",
    description="For columns without a field of their own here. They win over the fields.",
    optional=True,
    aliases=("rowValues",),
)


class ExecuteQuery(Action):
    """Any statement; its prop ``sql`` is of the app."""

    name = "Execute query"
    annotations = DELETES

    def run(self, ctx: Context) -> Any:
        query = ctx.props.sql
        result = ask(ctx, query.get("query") or query.get("value") or "", query.get("params") or [])
        summary = f"{result.command}: {counted(result.count, 'row')}"
        ctx.export("$summary", f"{summary}, of which {len(result.rows)} are shown" if result.cut else summary)
        return {"rows": list(result.rows), "row_count": result.count, "command": result.command}


class FindRows(Action):
    """The rows whose column has a value, or all."""

    name = "Find rows"
    annotations = READS

    table = table_prop
    column = column_prop.but(optional=True, description="Leave it empty for all rows.")
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)
    order_by = column_prop.but(label="Sort by", optional=True)
    limit = integer(label="At most", description="How many rows to return.", min=1, max=1000, default=100)

    def run(self, ctx: Context) -> Any:
        props, table, params = ctx.props, _chosen_table(ctx), Params(ctx)
        parts = [f"select * from {table.name}"]  # noqa: S608
        if props.column:
            parts.append(f"where {_condition(ctx, table, params)}")
        if props.order_by:
            parts.append(f"order by {table.column(props.order_by).quoted}")
        parts.append(f"limit {params.add(props.limit)}")
        rows = ask(ctx, " ".join(parts), params.values).rows
        ctx.export("$summary", f"Found {counted(rows, 'row')} in {table.name}")
        return list(rows)


class _WithColumns(Action):
    """An action whose form has a field for each column of the table; ``row`` has those of a
    caller without a form."""

    table = table_prop.but(reload_props=True)
    row = row_prop

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        columns = _chosen_table(ctx).columns if ctx.props.table else []
        return {_FIELD + column.name: self.field(column) for column in columns if column.writable}

    def field(self, column: Column) -> Prop:
        """The field for a column."""
        make = _TYPES.get(column.type, string)
        return make(label=column.name, description=column.type, optional=column.optional)


class InsertRow(_WithColumns):
    """A new row; what is left empty gets the column's default."""

    name = "Insert row"
    annotations = CREATES

    def run(self, ctx: Context) -> Any:
        table = _chosen_table(ctx)
        row = _insert(ctx, table, "")
        ctx.export("$summary", f"Inserted 1 row into {table.name}")
        return row


class UpsertRow(_WithColumns):
    """A new row, or the columns of the one with the same primary key. The app may have a prop ``key_column``, another
    column whose values are unique."""

    name = "Upsert row"
    annotations = OVERWRITES

    def field(self, column: Column) -> Prop:
        return super().field(column).but(optional=column.optional and not column.in_key)

    def run(self, ctx: Context) -> Any:
        table, chosen = _chosen_table(ctx), ctx.props.get("key_column")
        key = [column.quoted for column in ([table.column(chosen)] if chosen else table.key)]
        if not key:
            raise ComponentError(f"{table.name} has no primary key, which tells rows apart. Insert the row instead.")
        sql, names = _dialect(ctx), [column.quoted for column in _values(ctx, table)]
        changes = ", ".join(f"{name} = {sql.incoming.format(column=name)}" for name in names)
        row = _insert(ctx, table, f" {sql.upsert.format(key=', '.join(key))} {changes}" if names else "")
        ctx.export("$summary", f"Wrote 1 row to {table.name}")
        return row


class UpdateRows(_WithColumns):
    """Columns of the rows whose column has a value; what is left empty stays."""

    name = "Update rows"
    annotations = OVERWRITES

    column = column_prop.but(label="Find by", description=_MATCH_HINT)
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)

    def field(self, column: Column) -> Prop:
        return super().field(column).but(optional=True)

    def run(self, ctx: Context) -> Any:
        table, params = _chosen_table(ctx), Params(ctx)
        changes = ", ".join(f"{column.quoted} = {params.add(value)}" for column, value in _values(ctx, table).items())
        if not changes:
            raise ComponentError("Nothing is to be changed. Fill in at least one column.")
        condition = _condition(ctx, table, params)
        count = ask(ctx, f"update {table.name} set {changes} where {condition}", params.values).count  # noqa: S608
        ctx.export("$summary", f"Updated {counted(count, 'row')} of {table.name}")
        return {"row_count": count}


class DeleteRows(Action):
    """The rows whose column has a value."""

    name = "Delete rows"
    annotations = OVERWRITES

    table = table_prop
    column = column_prop.but(label="Find by", description=_MATCH_HINT)
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)

    def run(self, ctx: Context) -> Any:
        table, params = _chosen_table(ctx), Params(ctx)
        condition = _condition(ctx, table, params)
        count = ask(ctx, f"delete from {table.name} where {condition}", params.values).count  # noqa: S608
        ctx.export("$summary", f"Deleted {counted(count, 'row')} of {table.name}")
        return {"row_count": count}


def _condition(ctx: Context, table: Table, params: Params) -> str:
    column, value = table.column(ctx.props.column).quoted, ctx.props.value
    return f"{column} is null" if value is None else f"{column} = {params.add(value)}"


def _values(ctx: Context, table: Table) -> dict[Column, Any]:
    """What was entered for the columns that can be written; only the prop ``row`` may have a null.

    Raises :class:`ComponentError` for a name in ``row`` that is no such column.
    """
    entered = {column: ctx.extra.get(_FIELD + column.name) for column in table.columns if column.writable}
    filled = {column: value for column, value in entered.items() if value is not None}
    for name, value in (ctx.props.row or {}).items():
        column = table.column(name)
        if not column.writable:
            raise ComponentError(f"The server itself fills the column {name}. Leave it out.")
        filled[column] = value
    return filled


def _insert(ctx: Context, table: Table, more: str) -> Any:
    """Add the row that was entered; it as the server has it then, or None where that cannot be known."""
    values, sql, params = _values(ctx, table), _dialect(ctx), Params(ctx)
    names = ", ".join(column.quoted for column in values)
    marks = ", ".join(map(params.add, values.values()))
    filled = f"({names}) values ({marks})" if values else sql.empty
    result = ask(ctx, f"insert into {table.name} {filled}{more}{sql.returning}", params.values)
    if sql.returning:
        return result.rows[0] if result.rows else None
    key = {column: values.get(column, result.last_id) for column in table.key}
    if not key or None in key.values():
        return {column.name: value for column, value in values.items()}
    again = Params(ctx)
    condition = " and ".join(f"{column.quoted} = {again.add(value)}" for column, value in key.items())
    rows = ask(ctx, f"select * from {table.name} where {condition}", again.values).rows  # noqa: S608
    return rows[0] if rows else None


class NewRow(Trigger):
    """Rows whose value is greater than all that were seen."""

    name = "New row"
    dedupe = "unique"

    table = table_prop
    column = column_prop.but(description="Its value is greater in each new row, such as a number or a time.")
    timer = timer(default={"intervalSeconds": 900})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        self._emit(ctx, list(reversed(_rows(ctx, newest=True))))

    def run(self, ctx: Context) -> None:
        for _ in range(MAX_PAGES):
            rows = _rows(ctx)
            self._emit(ctx, rows)
            if len(rows) < PAGE:
                return

    def _emit(self, ctx: Context, rows: Sequence[Mapping[str, Any]]) -> None:
        name = _chosen_table(ctx).column(ctx.props.column).name if rows else ""
        for row in rows:
            ctx.emit(dict(row), id=row[name], summary=f"{name} {row[name]}")
            ctx.db.set(_LAST_VALUE, row[name])


def _rows(ctx: Context, *, newest: bool = False) -> Sequence[Mapping[str, Any]]:
    """The rows after the last that was seen, in the order of their column; or the ``newest`` of all, backwards."""
    table, params = _chosen_table(ctx), Params(ctx)
    column = table.column(ctx.props.column).quoted
    since = ctx.db.get(_LAST_VALUE)
    condition = f"{column} is not null" if since is None else f"{column} > {params.add(since)}"
    order = f"order by {column} {'desc' if newest else ''} limit {params.add(EXAMPLES if newest else PAGE)}"
    return ask(ctx, f"select * from {table.name} where {condition} {order}", params.values).rows  # noqa: S608
