"""Write to the channel that the person chose while connecting: its webhook was kept with the tokens."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, app, string

from .. import common


class SendMessage(Action):
    name = "Send message"
    description = (
        "Write a message to the channel that was chosen when the account was connected. "
        "[See the documentation](https://docs.discord.com/developers/resources/webhook#execute-webhook)"
    )
    annotations = CREATES

    reads_secrets = True  # the address of the channel holds them
    account = app("discord")
    content = string(label="Text", description="In Markdown, at most 2,000 characters.")
    username = string(
        label="Sender", description="Who seems to write. The name of the webhook unless given.", optional=True
    )

    def run(self, ctx: Context) -> Any:
        message = {"content": ctx.props.content}
        if ctx.props.username:
            message["username"] = ctx.props.username
        sent = ctx.http.post(common.webhook(ctx), params={"wait": "true"}, json=message).json()
        ctx.export("$summary", "Sent a message to the channel")
        return sent
