"""Read the items of a database."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer, object_

from ..common import account, database_prop, filled


class QueryDatabase(Action):
    name = "Query database"
    description = (
        "Read the pages in a database, all of them or those that fit a filter. "
        "[See the documentation](https://developers.notion.com/reference/post-database-query)"
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
        path, cursor = f"/v1/databases/{quote(ctx.props.database_id, safe='')}/query", None
        items: list[Any] = []
        while True:
            query = {
                "filter": ctx.props.filter,
                "start_cursor": cursor,
                "page_size": min(100, ctx.props.most - len(items)),
            }
            answer = ctx.http.post(path, json=filled(query)).json()
            items += answer["results"]
            cursor = answer.get("next_cursor")
            if not cursor or len(items) >= ctx.props.most:
                break
        ctx.export("$summary", f"Found {counted(items, 'item')}")
        return items
