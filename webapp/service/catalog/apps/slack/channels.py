"""Slack's conversations, as far as an account may see them: channels, private channels and direct messages."""

from collections.abc import Sequence
from typing import Any

from webapp.service.components.authoring import Context, Option, Options, string

from .common import ask, call, refused

# What each kind of conversation needs: https://docs.slack.dev/reference/methods/conversations.list
KINDS = {
    "public_channel": "channels:read",
    "private_channel": "groups:read",
    "mpim": "mpim:read",
    "im": "im:read",
}
_PAGES_AT_ONCE = 5
Conversation = dict[str, Any]


def page_of(ctx: Context, kinds: Sequence[str], cursor: str | None = None) -> tuple[list[Conversation], str | None]:
    """One page of the conversations of ``kinds`` that are in use, and the cursor of the next one.

    Kinds that the account has no permission for are left out, unless that leaves none. Raises
    :class:`ComponentError`.
    """
    listing = {"exclude_archived": True, "limit": 200, "cursor": cursor}
    answer = ask(ctx, "conversations.list", types=",".join(kinds), **listing)
    allowed = [kind for kind in kinds if KINDS[kind] in str(answer.get("provided", "")).split(",")]
    if answer.get("error") == "missing_scope" and 0 < len(allowed) < len(kinds):
        answer = ask(ctx, "conversations.list", types=",".join(allowed), **listing)
    if not answer.get("ok"):
        raise refused(answer)
    return answer["channels"], answer.get("response_metadata", {}).get("next_cursor") or None


def find_channels(ctx: Context) -> Options:
    """Conversations to choose from. Slack has no search for them, so pages are read until one holds a match."""
    cursor = ctx.previous.get("cursor")
    options: list[Option] = []
    if ctx.page and not cursor:
        return Options([])
    for _ in range(_PAGES_AT_ONCE):
        conversations, cursor = page_of(ctx, list(KINDS), cursor)
        people = _people(ctx) if any(conversation.get("is_im") for conversation in conversations) else {}
        labels = [(_label(conversation, people), conversation["id"]) for conversation in conversations]
        options = [Option(label, id) for label, id in labels if ctx.query.lower() in label.lower()]
        if options or not cursor:
            break
    return Options(options, {"cursor": cursor} if cursor else None)


def _people(ctx: Context) -> dict[str, str]:
    """The names of the people whom the first page of the workspace tells; an id stands for any other."""
    members = call(ctx, "users.list", limit=1000)["members"]
    return {member["id"]: member.get("real_name") or member["name"] for member in members}


def _label(conversation: Conversation, people: dict[str, str]) -> str:
    if conversation.get("is_im"):
        user = conversation.get("user", "")
        return f"Direct message: {people.get(user, user)}"
    name = str(conversation["name"])
    if conversation.get("is_mpim"):  # such as mpdm-ada--grace-1
        return f"Group message: {', '.join(name.removeprefix('mpdm-').rpartition('-')[0].split('--'))}"
    return f"#{name} (private)" if conversation.get("is_private") else f"#{name}"


channel_prop = string(
    label="Channel",
    description="A channel of your workspace, or a direct message, as far as the account may see them.",
    options=find_channels,
    use_query=True,
)
