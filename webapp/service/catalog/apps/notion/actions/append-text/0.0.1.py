"""Append text to a page."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES, counted
from webapp.service.components.authoring import Action, ComponentError, Context

from ..common import account, append, blocks, content_prop, page_prop


class AppendText(Action):
    name = "Append text"
    description = (
        "Add text at the end of a page, a block for each line. "
        "[See the documentation](https://developers.notion.com/reference/patch-block-children)"
    )
    annotations = CREATES

    notion = account
    page_id = page_prop
    content = content_prop

    def run(self, ctx: Context) -> Any:
        added = append(ctx, ctx.props.page_id, blocks(ctx.props.content))
        if not added:
            raise ComponentError("There is nothing to append. Write some text.")
        ctx.export("$summary", f"Appended {counted(added, 'block')}")
        return {"page_id": ctx.props.page_id, "blocks": added}
