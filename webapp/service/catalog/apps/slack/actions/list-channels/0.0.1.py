"""List the public channels of the workspace."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer

from ..common import account, channels


class ListChannels(Action):
    name = "List channels"
    description = (
        "List the public channels of your workspace that are in use. "
        "[See the documentation](https://docs.slack.dev/reference/methods/conversations.list)"
    )
    annotations = READS

    slack = account
    most = integer(label="At most", default=200, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        rows, cursor = channels(ctx)
        while cursor and len(rows) < ctx.props.most:
            page, cursor = channels(ctx, cursor)
            rows += page
        rows = rows[: ctx.props.most]
        ctx.export("$summary", f"Listed {counted(rows, 'channel')}")
        return rows
