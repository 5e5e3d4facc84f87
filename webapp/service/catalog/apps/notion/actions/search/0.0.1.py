"""Search by title."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, Option, integer, string

from ..common import account, search, title


class Search(Action):
    name = "Search"
    description = (
        "Find pages and databases by their titles, among those that were shared with the connection. "
        "[See the documentation](https://developers.notion.com/reference/post-search)"
    )
    annotations = READS

    notion = account
    query = string(label="Title", description="Part of it. Empty for all.", optional=True)
    kind = string(label="Kind", optional=True, options=[Option("Pages", "page"), Option("Databases", "database")])
    most = integer(label="At most", default=20, min=1, max=100, optional=True)

    def run(self, ctx: Context) -> Any:
        kind = "data_source" if ctx.props.kind == "database" else ctx.props.kind
        results = search(ctx, kind, ctx.props.query or "", most=ctx.props.most)["results"]
        ctx.export("$summary", f"Found {counted(results, 'page')}")
        return [
            {"object": result["object"], "id": result["id"], "title": title(result), "url": result.get("url")}
            for result in results
        ]
