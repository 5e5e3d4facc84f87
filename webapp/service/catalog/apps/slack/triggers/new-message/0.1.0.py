"""Emits messages in channels, which Slack reports through its Events API."""

from typing import Any

from webapp.service.components.authoring import Context, Trigger, apphook, boolean, string_list

from .. import common
from ..channels import find_channels

# Other subtypes tell of edits, of people who join or leave, and so on.
WRITTEN = (None, "file_share", "me_message", "thread_broadcast")
BY_BOTS = "bot_message"


class NewMessage(Trigger):
    name = "New message"
    description = (
        "Each message that is written in a channel or a direct message, at once. "
        "[See the documentation](https://docs.slack.dev/reference/events/message)"
    )
    dedupe = "unique"

    slack = common.account
    channels = string_list(
        label="Channels",
        description="Every channel unless given.",
        options=find_channels,
        use_query=True,
        optional=True,
    )
    bots = boolean(label="Messages of bots too", optional=True, default=False)
    hook = apphook("slack", ["message"])

    def run(self, ctx: Context) -> None:
        event = ctx.event["body"]
        if event.get("type") == "event_callback" and self._is_chosen(ctx, event):
            message = event["event"]
            summary = (message.get("text") or "A message without text")[:100]
            ctx.emit(event, id=event["event_id"], summary=summary, ts=event["event_time"] * 1000)

    def _is_chosen(self, ctx: Context, event: dict[str, Any]) -> bool:
        message, subtype = event["event"], event["event"].get("subtype")
        by_bot = subtype == BY_BOTS or bool(message.get("bot_id"))
        return (
            message["type"] == "message"
            and (ctx.props.bots if by_bot else True)
            and subtype in (*WRITTEN, BY_BOTS)
            and (not ctx.props.channels or message.get("channel") in ctx.props.channels)
        )
