"""The trigger that every database has: new rows of a table, by a column whose values grow."""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.catalog.shared import databases
from webapp.service.catalog.shared.databases import Params, ask, known
from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import Context, Trigger, service_db, timer

PAGE, MAX_PAGES = 100, 10
_SINCE = "since"


class NewRow(Trigger):
    """Rows whose value is greater than all that were seen."""

    name = "New row"
    aliases = ("new-row-added",)
    dedupe = "unique"

    table = databases.table
    column = databases.column.but(description="Its value is greater in each new row, such as a number or a time.")
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
        columns = databases.columns(ctx, ctx.props.table) if rows else []
        name = next((column.name for column in columns if column.quoted == ctx.props.column), "")
        for row in rows:
            ctx.emit(dict(row), id=row[name], summary=f"{name} {row[name]}")
            ctx.db.set(_SINCE, row[name])


def _rows(ctx: Context, *, newest: bool = False) -> Sequence[Mapping[str, Any]]:
    """The rows after the last that was seen, in the order of their column; or the ``newest`` of all, backwards."""
    column, params = known(ctx.props.column, databases.columns(ctx, ctx.props.table)), Params(ctx)
    since = ctx.db.get(_SINCE)
    condition = f"{column} is not null" if since is None else f"{column} > {params.add(since)}"
    order = f"order by {column} {'desc' if newest else ''} limit {params.add(EXAMPLES if newest else PAGE)}"
    return ask(ctx, f"select * from {ctx.props.table} where {condition} {order}", params.values).rows  # noqa: S608
