"""Get an e-mail."""

from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context

from .. import common


class GetEmail(Action):
    name = "Get email"
    description = (
        "Get an e-mail: who wrote it, its text and what is attached. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/get)"
    )
    annotations = READS

    gmail = common.account
    message_id = common.message_prop

    def run(self, ctx: Context) -> Any:
        message = common.fetch(ctx, ctx.props.message_id)
        ctx.export("$summary", f"Got {message['subject'] or 'the e-mail'}")
        return message
