"""What Slack's components share: calling a method of the Web API, naming a message, signatures."""

from typing import Any

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import ComponentError, Context, HttpError, app, string

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
    "not_in_channel": "You are not in that channel. Join it in Slack first; a bot has to be added to it.",
    "ratelimited": "Slack takes no more requests for now. Try again in a minute.",
    "users_not_found": "Nobody in the workspace has that e-mail address.",
}


def ask(ctx: Context, method: str, **arguments: Any) -> dict[str, Any]:
    """What a method of the Web API answers, whether it refuses or not: Slack refuses with 200 and ``ok`` false."""
    try:
        answer: dict[str, Any] = ctx.http.post(f"/{method}", data=arguments).json()
    except HttpError as error:
        if error.status != 429:
            raise
        return {"ok": False, "error": "ratelimited"}
    return answer


def call(ctx: Context, method: str, **arguments: Any) -> dict[str, Any]:
    """Call a method of the Web API. Raises :class:`ComponentError` where Slack refuses."""
    answer = ask(ctx, method, **arguments)
    if not answer.get("ok"):
        raise refused(answer)
    return answer


def refused(answer: dict[str, Any]) -> ComponentError:
    """The sentence for an answer that refuses."""
    error = answer.get("error", "unknown_error")
    if error == "missing_scope":
        needed = answer.get("needed", "another permission")
        return ComponentError(f"The account lacks the permission {needed}. Connect it again and allow that.")
    return ComponentError(_SAID.get(error, f"Slack refused with {error}. Check what you entered."))


def signed_by_slack(ctx: Context, secret: str) -> bool:
    """Whether the request that came is signed: https://docs.slack.dev/authentication/verifying-requests-from-slack."""
    sent = webhooks.header(ctx, "X-Slack-Request-Timestamp")
    expected = "v0=" + webhooks.hmac_sha256(secret, f"v0:{sent}:{ctx.event['bodyRaw']}")
    return webhooks.equal(webhooks.header(ctx, "X-Slack-Signature"), expected) and webhooks.is_recent(ctx, sent)


account = app("slack")
timestamp_prop = string(label="Message timestamp", description="The ts of the message, such as 1716400000.123456.")
