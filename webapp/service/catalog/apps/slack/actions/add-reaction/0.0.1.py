"""Put an emoji on a message."""

from typing import Any

from webapp.service.catalog.shared.hints import SETS
from webapp.service.components.authoring import Action, Context, string

from ..channels import channel_prop
from ..common import account, call, timestamp_prop


class AddReaction(Action):
    name = "Add reaction"
    description = (
        "Put an emoji on a message. [See the documentation](https://docs.slack.dev/reference/methods/reactions.add)"
    )
    annotations = SETS

    slack = account
    channel = channel_prop
    ts = timestamp_prop
    emoji = string(label="Emoji", description="Its name, such as thumbsup.", default="thumbsup")

    def run(self, ctx: Context) -> Any:
        emoji = ctx.props.emoji.strip(": ")
        answer = call(ctx, "reactions.add", channel=ctx.props.channel, timestamp=ctx.props.ts, name=emoji)
        ctx.export("$summary", f"Added :{emoji}: to the message")
        return answer
