"""Run SQL of one's own."""

from typing import Any

from webapp.service.catalog.shared.hints import SPENDS, counted
from webapp.service.components.authoring import Action, Context, app, sql

from .. import common


class ExecuteQuery(Action):
    name = "Execute query"
    description = (
        "Run an SQL statement and get its rows, at most 1,000. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-commands.html)"
    )
    annotations = SPENDS

    account = app("postgresql")
    sql_ = sql("postgresql", label="Query", description="Parameters stand in it as $1, $2 and so on.")

    def run(self, ctx: Context) -> Any:
        query = ctx.props.sql
        result = common.ask(ctx, query.get("query") or query.get("value") or "", query.get("params") or [])
        summary = f"{result.command}: {counted(result.count, 'row')}"
        ctx.export("$summary", f"{summary}, of which {len(result.rows)} are shown" if result.cut else summary)
        return {"rows": list(result.rows), "row_count": result.count, "command": result.command}
