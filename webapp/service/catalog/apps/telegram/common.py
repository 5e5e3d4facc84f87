"""What Telegram's trigger needs: calling a method of the Bot API, choosing a chat, and the bot's webhook."""

from typing import Any

from webapp.service.components.authoring import ComponentError, Context, Option, Options, app, string

_SOURCES = ("message", "edited_message", "channel_post", "edited_channel_post", "my_chat_member", "chat_member")


def call(ctx: Context, method: str, **arguments: Any) -> Any:
    """Call a method of the Bot API; its result. Raises :class:`ComponentError` with what Telegram says."""
    body = {name: value for name, value in arguments.items() if value is not None}
    answer = ctx.http.post(f"/{method}", json=body, check=False).json()
    if answer.get("ok"):
        return answer["result"]
    raise ComponentError(f"Telegram refused: {answer.get('description', 'it does not say why')}.")


def _find_chats(ctx: Context) -> Options:
    """The chats that the bot heard of in the last day: Telegram keeps updates no longer, and has no list of chats."""
    if ctx.page:
        return Options([])
    chats = {}
    for update in call(ctx, "getUpdates", limit=100, timeout=0):
        for chat in (update[source]["chat"] for source in _SOURCES if source in update):
            chats[chat["id"]] = chat_name(chat)
    return Options([Option(name, str(id)) for id, name in chats.items() if ctx.query.lower() in name.lower()])


def chat_name(chat: dict[str, Any]) -> str:
    """What a chat is called: a group's title, else a person's name."""
    person = " ".join(filter(None, (chat.get("first_name"), chat.get("last_name"))))
    return str(chat.get("title") or person or chat.get("username") or chat["id"])


def webhook(ctx: Context) -> str:
    """The address that the bot sends updates to; empty when it sends none."""
    return str(call(ctx, "getWebhookInfo").get("url", ""))


def is_chat(chat: dict[str, Any], chosen: str | None) -> bool:
    """Whether ``chat`` is the ``wanted`` one, which is an id or ``@name``; every chat when none is."""
    return not chosen or chosen in (str(chat["id"]), f"@{chat.get('username')}")


account = app("telegram")
CHAT_HELP = "A chat's id, or @name of a public channel. Chats that the bot heard of lately are offered."
chat_prop = string(
    label="Chat",
    description=CHAT_HELP,
    options=_find_chats,
    use_query=True,
)
