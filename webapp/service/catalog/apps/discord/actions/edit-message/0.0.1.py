"""Change a message that was written to the channel of the account."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, app, string

from .. import common


class EditMessage(Action):
    name = "Update message"
    description = (
        "Change a message that this account wrote to its channel. "
        "[See the documentation](https://docs.discord.com/developers/resources/webhook#edit-webhook-message)"
    )
    annotations = OVERWRITES

    reads_secrets = True  # the address of the channel holds them
    account = app("discord")
    message_id = common.message_id
    content = string(label="Text", description="In Markdown, at most 2,000 characters.")

    def run(self, ctx: Context) -> Any:
        changed = ctx.http.patch(common.message(ctx), json={"content": ctx.props.content}).json()
        ctx.export("$summary", "Changed a message in the channel")
        return changed
