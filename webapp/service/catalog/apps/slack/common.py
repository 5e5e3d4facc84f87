"""What Slack's components share: calling a method of the Web API, choosing a channel, naming a message, signatures."""

from typing import Any

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import ComponentError, Context, Option, Options, app, string

_PAGES_AT_ONCE = 5
_SAID = {
    "already_reacted": "You have put this emoji on the message already.",
    "cant_update_message": "Slack lets people change their own messages only.",
    "channel_not_found": "Slack knows no such channel. Choose another one.",
    "edit_window_closed": "The workspace lets nobody change a message of that age.",
    "invalid_name": "Slack knows no such emoji. Write its name without colons, such as thumbsup.",
    "is_archived": "The channel is archived. Choose another one.",
    "message_not_found": "There is no such message in the channel. Check its timestamp.",
    "msg_too_long": "The message is too long for Slack. Shorten it.",
    "no_text": "A message needs text. Write some.",
    "not_in_channel": "You are not in that channel. Join it in Slack first.",
    "users_not_found": "Nobody in the workspace has that e-mail address.",
}


def call(ctx: Context, method: str, **arguments: Any) -> dict[str, Any]:
    """Call a method of the Web API; Slack answers 200 also when it refuses. Raises :class:`ComponentError`."""
    answer: dict[str, Any] = ctx.http.post(f"/{method}", data=arguments).json()
    if answer.get("ok"):
        return answer
    error = answer.get("error", "unknown_error")
    if error == "missing_scope":
        needed = answer.get("needed", "another permission")
        raise ComponentError(f"The account lacks the permission {needed}. Connect it again and allow that.")
    raise ComponentError(_SAID.get(error, f"Slack refused with {error}. Check what you entered."))


def channels(ctx: Context, cursor: str | None = None) -> tuple[list[dict[str, Any]], str | None]:
    """One page of the public channels that are in use, and the cursor of the next one."""
    answer = call(ctx, "conversations.list", types="public_channel", exclude_archived=True, limit=200, cursor=cursor)
    return answer["channels"], answer.get("response_metadata", {}).get("next_cursor") or None


def find_channels(ctx: Context) -> Options:
    """Channels to choose from. Slack has no search for them, so pages are read until one holds a match."""
    cursor = ctx.previous.get("cursor")
    options: list[Option] = []
    if ctx.page and not cursor:
        return Options([])
    for _ in range(_PAGES_AT_ONCE):
        page, cursor = channels(ctx, cursor)
        options = [
            Option(f"#{channel['name']}", channel["id"])
            for channel in page
            if ctx.query.lower() in channel["name"].lower()
        ]
        if options or not cursor:
            break
    return Options(options, {"cursor": cursor} if cursor else None)


def signed_by_slack(ctx: Context, secret: str) -> bool:
    """Whether the request that came is signed: https://docs.slack.dev/authentication/verifying-requests-from-slack."""
    sent = webhooks.header(ctx, "X-Slack-Request-Timestamp")
    expected = "v0=" + webhooks.hmac_sha256(secret, f"v0:{sent}:{ctx.event['bodyRaw']}")
    return webhooks.equal(webhooks.header(ctx, "X-Slack-Signature"), expected) and webhooks.is_recent(ctx, sent)


account = app("slack")
channel_prop = string(
    label="Channel", description="A public channel of your workspace.", options=find_channels, use_query=True
)
timestamp_prop = string(label="Message timestamp", description="The ts of the message, such as 1716400000.123456.")
