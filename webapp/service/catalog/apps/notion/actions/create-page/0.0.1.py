"""Create a page within another one."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, string

from ..common import account, append, blocks, content_prop, filled, page_prop, rich_text


class CreatePage(Action):
    name = "Create page"
    description = (
        "Create a page within another page, with a title and text. "
        "[See the documentation](https://developers.notion.com/reference/post-page)"
    )
    annotations = CREATES

    notion = account
    parent_id = page_prop.but(label="Parent page", aliases=("parent",))
    title = string(label="Title")
    content = content_prop.but(optional=True, aliases=("pageContent",))

    def run(self, ctx: Context) -> Any:
        text = blocks(ctx.props.content or "")
        page = ctx.http.post(
            "/v1/pages",
            json=filled(
                {
                    "parent": {"page_id": ctx.props.parent_id},
                    "properties": {"title": {"title": rich_text(ctx.props.title)}},
                    "children": text[:100],
                }
            ),
        ).json()
        append(ctx, page["id"], text[100:])
        ctx.export("$summary", f"Created the page {ctx.props.title}")
        return page
