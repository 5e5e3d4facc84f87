"""Read the latest messages of a channel."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer

from ..common import account, call, channel_prop


class ListMessages(Action):
    name = "List messages"
    description = (
        "Read the latest messages of a public channel, newest first; replies in threads are not among them. "
        "[See the documentation](https://docs.slack.dev/reference/methods/conversations.history)"
    )
    annotations = READS

    slack = account
    channel = channel_prop
    limit = integer(label="How many", default=20, min=1, max=200, optional=True)

    def run(self, ctx: Context) -> Any:
        messages = call(ctx, "conversations.history", channel=ctx.props.channel, limit=ctx.props.limit)["messages"]
        ctx.export("$summary", f"Read {counted(messages, 'message')}")
        return messages
