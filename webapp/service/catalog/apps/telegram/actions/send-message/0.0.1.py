"""Send a message to a chat."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Option, integer, string

from ..common import account, call, chat_name, chat_prop, silent_prop


class SendMessage(Action):
    name = "Send message"
    description = (
        "Send a text message to a chat, group or channel, as the bot. "
        "[See the documentation](https://core.telegram.org/bots/api#sendmessage)"
    )
    annotations = CREATES

    telegram = account
    chat_id = chat_prop
    text = string(label="Text", description="Up to 4096 characters.")
    parse_mode = string(
        label="Format",
        description="How the text is to be read. Empty for plain text.",
        options=[Option("HTML", "HTML"), Option("Markdown", "MarkdownV2")],
        optional=True,
    )
    disable_notification = silent_prop
    reply_to = integer(label="Reply to", description="The id of a message in the chat.", optional=True)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        sent = call(
            ctx,
            "sendMessage",
            chat_id=props.chat_id,
            text=props.text,
            parse_mode=props.parse_mode,
            disable_notification=props.disable_notification,
            reply_parameters={"message_id": props.reply_to} if props.reply_to else None,
        )
        ctx.export("$summary", f"Sent the message to {chat_name(sent['chat'])}")
        return sent
