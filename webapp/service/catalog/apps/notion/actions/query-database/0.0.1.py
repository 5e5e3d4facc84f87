"""Read the items of a database."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer, object_

from ..common import account, database_prop, query


class QueryDatabase(Action):
    name = "Query database"
    description = (
        "Read the pages in a database, all of them or those that fit a filter. "
        "[See the documentation](https://developers.notion.com/reference/query-a-data-source)"
    )
    annotations = READS

    notion = account
    database_id = database_prop
    filter = object_(
        label="Filter",
        description='As Notion documents it, such as {"property": "Done", "checkbox": {"equals": true}}.',
        optional=True,
    )
    most = integer(label="At most", default=100, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        items = query(ctx, ctx.props.most, filter=ctx.props.filter)
        ctx.export("$summary", f"Found {counted(items, 'item')}")
        return items
