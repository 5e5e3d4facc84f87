"""List the channels of the workspace."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, Option, integer, string_list

from ..channels import page_of
from ..common import account


class ListChannels(Action):
    name = "List channels"
    description = (
        "List the channels of your workspace that are in use, and your direct messages where you ask for them. "
        "[See the documentation](https://docs.slack.dev/reference/methods/conversations.list)"
    )
    annotations = READS

    slack = account
    kinds = string_list(
        label="Kinds",
        options=[
            Option("Public channels", "public_channel"),
            Option("Private channels", "private_channel"),
            Option("Group messages", "mpim"),
            Option("Direct messages", "im"),
        ],
        default=["public_channel"],
        optional=True,
    )
    most = integer(label="At most", default=200, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        kinds = ctx.props.kinds or ["public_channel"]
        rows, cursor = page_of(ctx, kinds)
        while cursor and len(rows) < ctx.props.most:
            page, cursor = page_of(ctx, kinds, cursor)
            rows += page
        rows = rows[: ctx.props.most]
        ctx.export("$summary", f"Listed {counted(rows, 'channel')}")
        return rows
