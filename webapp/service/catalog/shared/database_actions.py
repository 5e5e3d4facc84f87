"""The actions that every database has. A component of an app is one of them with the app's account and documentation.

Names in a statement come from the server's own list, quoted by it; values go as parameters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from webapp.service.catalog.shared import databases
from webapp.service.catalog.shared.databases import Column, Params, ask, dialect, known
from webapp.service.catalog.shared.hints import CREATES, DELETES, OVERWRITES, READS, counted
from webapp.service.components.authoring import (
    Action,
    ComponentError,
    Context,
    Prop,
    any_,
    boolean,
    integer,
    string,
)

_FIELD = "column_"
_TYPES = {
    "boolean": boolean,
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year"), integer),
    **dict.fromkeys(("json", "jsonb", "ARRAY"), any_),
}
_CHOICE = "The rows whose column has the value are meant."


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
    aliases = ("find-row",)
    annotations = READS

    table = databases.table
    column = databases.column.but(optional=True, description="Leave it empty for all rows.")
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)
    order_by = databases.column.but(label="Sort by", optional=True)
    limit = integer(label="At most", description="How many rows to return.", min=1, max=1000, default=100)

    def run(self, ctx: Context) -> Any:
        props, columns, params = ctx.props, databases.columns(ctx, ctx.props.table), Params(ctx)
        parts = [f"select * from {props.table}"]  # noqa: S608
        if props.column:
            parts.append(f"where {_condition(ctx, columns, params)}")
        if props.order_by:
            parts.append(f"order by {known(props.order_by, columns)}")
        parts.append(f"limit {params.add(props.limit)}")
        rows = ask(ctx, " ".join(parts), params.values).rows
        ctx.export("$summary", f"Found {counted(rows, 'row')} in {props.table}")
        return list(rows)


class _WithColumns(Action):
    """An action whose form has a field for each column of the table."""

    table = databases.table.but(reload_props=True)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        columns = databases.columns(ctx, ctx.props.table) if ctx.props.table else []
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
        columns, params = databases.columns(ctx, ctx.props.table), Params(ctx)
        row = _insert(ctx, columns, params, "")
        ctx.export("$summary", f"Inserted 1 row into {ctx.props.table}")
        return row


class UpsertRow(_WithColumns):
    """A new row, or the columns of the one with the same primary key."""

    name = "Upsert row"
    annotations = OVERWRITES

    def field(self, column: Column) -> Prop:
        return super().field(column).but(optional=column.optional and not column.in_key)

    def run(self, ctx: Context) -> Any:
        columns, params = databases.columns(ctx, ctx.props.table), Params(ctx)
        key = [column.quoted for column in columns if column.in_key]
        if not key:
            raise ComponentError(
                f"{ctx.props.table} has no primary key, which tells rows apart. Insert the row instead."
            )
        sql, names = dialect(ctx), [column.quoted for column in _values(ctx, columns)]
        changes = ", ".join(f"{name} = {sql.incoming.format(column=name)}" for name in names)
        row = _insert(ctx, columns, params, f" {sql.upsert.format(key=', '.join(key))} {changes}" if names else "")
        ctx.export("$summary", f"Wrote 1 row to {ctx.props.table}")
        return row


class UpdateRows(_WithColumns):
    """Columns of the rows whose column has a value; what is left empty stays."""

    name = "Update rows"
    aliases = ("update-row",)
    annotations = OVERWRITES

    column = databases.column.but(label="Find by", description=_CHOICE)
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)

    def field(self, column: Column) -> Prop:
        return super().field(column).but(optional=True)

    def run(self, ctx: Context) -> Any:
        columns, params = databases.columns(ctx, ctx.props.table), Params(ctx)
        changes = ", ".join(f"{column.quoted} = {params.add(value)}" for column, value in _values(ctx, columns).items())
        if not changes:
            raise ComponentError("Nothing is to be changed. Fill in at least one column.")
        condition = _condition(ctx, columns, params)
        count = ask(ctx, f"update {ctx.props.table} set {changes} where {condition}", params.values).count  # noqa: S608
        ctx.export("$summary", f"Updated {counted(count, 'row')} of {ctx.props.table}")
        return {"row_count": count}


class DeleteRows(Action):
    """The rows whose column has a value."""

    name = "Delete rows"
    aliases = ("delete-row",)
    annotations = OVERWRITES

    table = databases.table
    column = databases.column.but(label="Find by", description=_CHOICE)
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)

    def run(self, ctx: Context) -> Any:
        columns, params = databases.columns(ctx, ctx.props.table), Params(ctx)
        condition = _condition(ctx, columns, params)
        count = ask(ctx, f"delete from {ctx.props.table} where {condition}", params.values).count  # noqa: S608
        ctx.export("$summary", f"Deleted {counted(count, 'row')} of {ctx.props.table}")
        return {"row_count": count}


def _condition(ctx: Context, columns: Iterable[Column], params: Params) -> str:
    column, value = known(ctx.props.column, list(columns)), ctx.props.value
    return f"{column} is null" if value is None else f"{column} = {params.add(value)}"


def _values(ctx: Context, columns: Iterable[Column]) -> dict[Column, Any]:
    """What was entered for the columns that can be written."""
    entered = {column: ctx.extra.get(_FIELD + column.name) for column in columns if column.writable}
    return {column: value for column, value in entered.items() if value is not None}


def _insert(ctx: Context, columns: list[Column], params: Params, more: str) -> Any:
    """Add the row that was entered; it as the server has it then, or None where that cannot be known."""
    values, sql = _values(ctx, columns), dialect(ctx)
    names = ", ".join(column.quoted for column in values)
    marks = ", ".join(map(params.add, values.values()))
    filled = f"({names}) values ({marks})" if values else sql.empty
    result = ask(ctx, f"insert into {ctx.props.table} {filled}{more}{sql.returning}", params.values)
    if sql.returning:
        return result.rows[0] if result.rows else None
    key = {column: values.get(column, result.last_id) for column in columns if column.in_key}
    if not key or None in key.values():
        return {column.name: value for column, value in values.items()}
    again = Params(ctx)
    condition = " and ".join(f"{column.quoted} = {again.add(value)}" for column, value in key.items())
    rows = ask(ctx, f"select * from {ctx.props.table} where {condition}", again.values).rows  # noqa: S608
    return rows[0] if rows else None
