"""Find rows of a table by the value of one column."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, app, integer, string

from .. import common


class FindRows(Action):
    name = "Find rows"
    description = (
        "Find the rows of a table whose column has a value. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-select.html)"
    )
    annotations = READS

    account = app("postgresql")
    table = common.table
    column = common.column.but(optional=True, description="Leave it empty for all rows.")
    value = string(label="Value", description="Leave it empty for rows that have none.", optional=True)
    order_by = common.column.but(label="Sort by", optional=True)
    limit = integer(label="At most", description="How many rows to return.", min=1, max=1000, default=100)

    def run(self, ctx: Context) -> Any:
        props, columns = ctx.props, common.columns(ctx, ctx.props.table)
        # The names are checked against the server's own list, quoted by it; the values go as parameters.
        parts, params = [f"select * from {props.table}"], [props.limit]  # noqa: S608
        if props.column:
            parts.append(f"where {common.known(props.column, columns)}")
            parts.append("is null" if props.value is None else "= $2")
            params += [] if props.value is None else [props.value]
        if props.order_by:
            parts.append(f"order by {common.known(props.order_by, columns)}")
        rows = common.ask(ctx, " ".join([*parts, "limit $1"]), params).rows
        ctx.export("$summary", f"Found {counted(rows, 'row')} in {props.table}")
        return list(rows)
