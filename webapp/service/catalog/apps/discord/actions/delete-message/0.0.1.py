"""Delete a message that was written to the channel of the account."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, app

from .. import common


class DeleteMessage(Action):
    name = "Delete message"
    description = (
        "Delete a message that this account wrote to its channel. "
        "[See the documentation](https://docs.discord.com/developers/resources/webhook#delete-webhook-message)"
    )
    annotations = OVERWRITES

    reads_secrets = True  # the address of the channel holds them
    account = app("discord")
    message_id = common.message_id

    def run(self, ctx: Context) -> Any:
        ctx.http.delete(common.message(ctx))
        ctx.export("$summary", "Deleted a message in the channel")
        return {"id": ctx.props.message_id, "deleted": True}
