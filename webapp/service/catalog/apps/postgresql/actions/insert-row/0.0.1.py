"""Add a row to a table, whose columns become the fields of the form."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import CREATES, counted
from webapp.service.components.authoring import Action, Context, Prop, any_, app, boolean, integer, string

from .. import common

COLUMN = "column_"
TYPES = {
    "boolean": boolean,
    "smallint": integer,
    "integer": integer,
    "bigint": integer,
    "json": any_,
    "jsonb": any_,
    "ARRAY": any_,
}


class InsertRow(Action):
    name = "Insert row"
    description = (
        "Add a row to a table; what is left empty gets the column's default. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-insert.html)"
    )
    annotations = CREATES

    account = app("postgresql")
    table = common.table.but(reload_props=True)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        columns = common.columns(ctx, ctx.props.table) if ctx.props.table else []
        return {COLUMN + column.name: _field(column) for column in columns if column.writable}

    def run(self, ctx: Context) -> Any:
        values = {
            column: value
            for column in common.columns(ctx, ctx.props.table)
            if (value := _value(ctx, column)) is not None
        }
        names = ", ".join(column.quoted for column in values)
        places = ", ".join(f"${place}" for place in range(1, len(values) + 1))
        filled = f"({names}) values ({places})" if values else "default values"
        # The names come from the server's own list, quoted by it; the values go as parameters.
        result = common.ask(ctx, f"insert into {ctx.props.table} {filled} returning *", list(values.values()))
        ctx.export("$summary", f"Inserted {counted(result.count, 'row')} into {ctx.props.table}")
        return result.rows[0] if result.rows else None


def _field(column: common.Column) -> Prop:
    make = TYPES.get(column.type, string)
    return make(label=column.name, description=column.type, optional=column.optional)


def _value(ctx: Context, column: common.Column) -> Any:
    return ctx.extra.get(COLUMN + column.name) if column.writable else None
