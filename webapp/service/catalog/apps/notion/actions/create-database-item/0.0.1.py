"""Create a page in a database, with its properties."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Prop

from ..common import account, data_source, database_prop, title
from ..properties import property_props, property_values


class CreateDatabaseItem(Action):
    name = "Create database item"
    description = (
        "Create a page in a database, with a field for each property that can be written. "
        "[See the documentation](https://developers.notion.com/reference/post-page)"
    )
    annotations = CREATES

    notion = account
    database_id = database_prop.but(reload_props=True)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        return property_props(data_source(ctx)) if ctx.props.database_id else {}

    def run(self, ctx: Context) -> Any:
        source = data_source(ctx)
        parent = {"type": "data_source_id", "data_source_id": source["id"]}
        page = ctx.http.post("/v1/pages", json={"parent": parent, "properties": property_values(ctx, source)}).json()
        ctx.export("$summary", f"Created the item {title(page)}")
        return page
