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
        asked = ctx.props.sql
        found = common.ask(ctx, asked.get("query") or asked.get("value") or "", asked.get("params") or [])
        done = f"{found.command}: {counted(found.count, 'row')}"
        ctx.export("$summary", f"{done}, of which {len(found.rows)} are shown" if found.cut else done)
        return {"rows": list(found.rows), "row_count": found.count, "command": found.command}
