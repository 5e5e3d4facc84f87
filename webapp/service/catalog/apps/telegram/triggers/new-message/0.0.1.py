"""Emits messages to a bot, which Telegram reports."""

from webapp.service.catalog.shared import webhooks
from webapp.service.components.authoring import (
    ComponentError,
    Context,
    Option,
    Trigger,
    boolean,
    http_interface,
    service_db,
    string_list,
)

from .. import common

KINDS = [
    Option("Messages", "message"),
    Option("Messages that were edited", "edited_message"),
    Option("Posts in channels", "channel_post"),
    Option("Posts in channels that were edited", "edited_channel_post"),
]


class NewMessage(Trigger):
    name = "New message"
    description = (
        "Each message that the bot gets, at once. A bot sends to one address only, which must be https. "
        "[See the documentation](https://core.telegram.org/bots/api#setwebhook)"
    )
    dedupe = "unique"

    telegram = common.account
    kinds = string_list(label="What to hear of", options=KINDS, default=["message"])
    chat_id = common.chat_prop.but(optional=True, description="Every chat of the bot unless given. " + common.CHAT_HELP)
    replace = boolean(
        label="Take over",
        description="If the bot sends to another address already, let it send here instead.",
        optional=True,
        default=False,
    )
    http = http_interface()
    db = service_db()

    def activate(self, ctx: Context) -> None:
        if common.webhook(ctx) not in ("", ctx.endpoint) and not ctx.props.replace:
            raise ComponentError("The bot sends to another address already. Switch Take over on to move it here.")
        secret = webhooks.new_secret()
        webhook = {"url": ctx.endpoint, "secret_token": secret, "allowed_updates": ctx.props.kinds}
        common.call(ctx, "setWebhook", **webhook)
        webhooks.remember(ctx, None, secret)

    def deactivate(self, ctx: Context) -> bool:
        if common.webhook(ctx) == ctx.endpoint:
            common.call(ctx, "deleteWebhook")
        webhooks.forget(ctx)
        return True

    def run(self, ctx: Context) -> None:
        if not webhooks.equal(webhooks.header(ctx, "X-Telegram-Bot-Api-Secret-Token"), webhooks.shared_secret(ctx)):
            webhooks.log_forged(ctx, "Telegram")
            return
        update = ctx.event["body"]
        message = next((update[kind] for kind in ctx.props.kinds if kind in update), None)
        if message is None or not common.is_chat(message["chat"], ctx.props.chat_id):
            return
        text = message.get("text") or message.get("caption") or "A message without text"
        summary = f"{common.chat_name(message['chat'])}: {text[:100]}"
        seconds = message.get("edit_date") or message["date"]
        ctx.emit(update, id=update["update_id"], summary=summary, ts=seconds * 1000)
