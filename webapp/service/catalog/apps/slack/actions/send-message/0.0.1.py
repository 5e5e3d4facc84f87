"""Send a message to a channel, or into a thread."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, boolean, string

from ..channels import channel_prop
from ..common import account, call, timestamp_prop


class SendMessage(Action):
    name = "Send message"
    description = (
        "Send a message to a channel or a direct message, as yourself or as the app's bot. "
        "[See the documentation](https://docs.slack.dev/reference/methods/chat.postMessage)"
    )
    annotations = CREATES

    slack = account
    channel = channel_prop.but(with_label=True)
    text = string(
        label="Text", description="Slack's mrkdwn is understood: *bold*, _italic_, <https://example.com|link>."
    )
    thread_ts = timestamp_prop.but(
        label="Thread", description="The ts of a message to reply to. Empty for a new message.", optional=True
    )
    reply_broadcast = boolean(
        label="Show the reply in the channel too", description="For a reply in a thread.", optional=True
    )

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        sent = call(
            ctx,
            "chat.postMessage",
            channel=props.channel,
            text=props.text,
            thread_ts=props.thread_ts,
            reply_broadcast=props.reply_broadcast if props.thread_ts else None,
        )
        ctx.export("$summary", f"Sent the message to {ctx.label('channel') or sent['channel']}")
        return sent
