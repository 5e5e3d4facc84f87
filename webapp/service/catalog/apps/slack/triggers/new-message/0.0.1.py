"""Emits messages in channels, which Slack reports through its Events API."""

from typing import Any

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import (
    Context,
    Trigger,
    alert,
    boolean,
    http_interface,
    service_db,
    string,
    string_list,
)

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
    setup = alert(
        "After deploying, copy the trigger's own address from its page. In your Slack app, under Event Subscriptions, "
        "enter it as the Request URL, and subscribe on behalf of users to message.channels; to message.groups, "
        "message.im and message.mpim for private channels and direct messages. For a bot, choose the bot events."
    )
    signing_secret = string(
        label="Signing secret", description="Of your Slack app, under Basic Information.", secret=True
    )
    channels = string_list(
        label="Channels",
        description="Every channel unless given.",
        options=find_channels,
        use_query=True,
        optional=True,
    )
    bots = boolean(label="Messages of bots too", optional=True, default=False)
    http = http_interface(custom_response=True)
    db = service_db()

    def activate(self, ctx: Context) -> None:
        # One Slack app sends the events of all its workspaces to one address; this account hears of its own alone.
        ctx.db.set("team", common.call(ctx, "auth.test")["team_id"])
        ctx.log("Enter the trigger's own address in your Slack app, under Event Subscriptions, as the Request URL.")

    def deactivate(self, ctx: Context) -> bool:
        ctx.log("Remove the Request URL from your Slack app, unless you switch the trigger on again.")
        return True

    def run(self, ctx: Context) -> None:
        if not common.signed_by_slack(ctx, ctx.props.signing_secret):
            webhooks.log_forged(ctx, "Slack")
            ctx.respond(401, "The signature does not fit.")
            return
        event = ctx.event["body"]
        if event["type"] == "url_verification":
            ctx.respond(200, {"challenge": event["challenge"]})
            return
        if event["type"] == "event_callback" and self._is_chosen(ctx, event):
            message = event["event"]
            summary = (message.get("text") or "A message without text")[:100]
            ctx.emit(event, id=event["event_id"], summary=summary, ts=event["event_time"] * 1000)
        ctx.respond(200)

    def _is_chosen(self, ctx: Context, event: dict[str, Any]) -> bool:
        message, subtype = event["event"], event["event"].get("subtype")
        by_bot = subtype == BY_BOTS or bool(message.get("bot_id"))
        return (
            message["type"] == "message"
            and event.get("team_id") == ctx.db.get("team")
            and (ctx.props.bots if by_bot else True)
            and subtype in (*WRITTEN, BY_BOTS)
            and (not ctx.props.channels or message.get("channel") in ctx.props.channels)
        )
