"""Send a photo to a chat."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, string

from ..common import account, call, chat_name, chat_prop, silent_prop


class SendPhoto(Action):
    name = "Send photo"
    description = (
        "Send a photo from a public address to a chat, group or channel, as the bot. "
        "[See the documentation](https://core.telegram.org/bots/api#sendphoto)"
    )
    annotations = CREATES

    telegram = account
    chat_id = chat_prop
    photo = string(label="Address of the photo", description="Telegram fetches it from there; up to 5 MB.")
    caption = string(label="Caption", description="Up to 1024 characters.", optional=True)
    disable_notification = silent_prop

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        sent = call(
            ctx,
            "sendPhoto",
            chat_id=props.chat_id,
            photo=props.photo,
            caption=props.caption,
            disable_notification=props.disable_notification,
        )
        ctx.export("$summary", f"Sent the photo to {chat_name(sent['chat'])}")
        return sent
