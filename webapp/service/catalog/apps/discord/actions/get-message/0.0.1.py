"""Read a message that was written to the channel of the account."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, app

from .. import common


class GetMessage(Action):
    name = "Get message"
    description = (
        "Read a message that this account wrote to its channel. "
        "[See the documentation](https://docs.discord.com/developers/resources/webhook#get-webhook-message)"
    )
    annotations = READS

    reads_secrets = True  # the address of the channel holds them
    account = app("discord")
    message_id = common.message_id

    def run(self, ctx: Context) -> Any:
        message = ctx.http.get(common.message(ctx)).json()
        ctx.export("$summary", f"Read a message of {message['timestamp'][:10]}")
        return message
