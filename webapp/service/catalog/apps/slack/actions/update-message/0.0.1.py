"""Change a message that was sent before."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, string

from ..channels import channel_prop
from ..common import account, call, timestamp_prop


class UpdateMessage(Action):
    name = "Update message"
    description = (
        "Change the text of a message that you have sent. "
        "[See the documentation](https://docs.slack.dev/reference/methods/chat.update)"
    )
    annotations = OVERWRITES

    slack = account
    channel = channel_prop
    ts = timestamp_prop
    text = string(label="New text", description="It takes the place of the old one.")

    def run(self, ctx: Context) -> Any:
        changed = call(ctx, "chat.update", channel=ctx.props.channel, ts=ctx.props.ts, text=ctx.props.text)
        ctx.export("$summary", f"Changed the message {changed['ts']}")
        return changed
