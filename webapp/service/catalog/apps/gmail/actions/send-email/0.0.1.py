"""Send an e-mail."""

from typing import Any

from webapp.service.catalog.shared.hints import SPENDS
from webapp.service.components.authoring import Action, Context

from .. import common


class SendEmail(Action):
    name = "Send email"
    description = (
        "Send an e-mail from your mailbox, with files where you like. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send)"
    )
    annotations = SPENDS

    gmail = common.account
    to = common.to_prop
    cc = common.cc_prop
    bcc = common.bcc_prop
    subject = common.subject_prop
    body = common.body_prop
    body_type = common.body_type_prop
    attachments = common.attachments_prop
    from_name = common.from_name_prop
    from_email = common.from_email_prop
    reply_to = common.reply_to_prop

    def run(self, ctx: Context) -> Any:
        props, to = ctx.props, common.listed(ctx.props.to)
        headers = {
            "From": common.sender(ctx),
            "To": to,
            "Cc": common.listed(props.cc),
            "Bcc": common.listed(props.bcc),
            "Reply-To": props.reply_to,
        }
        sent = ctx.http.post(
            f"{common.MESSAGES}/send", json={"raw": common.composed(ctx, props.subject, headers)}
        ).json()
        ctx.export("$summary", f"Sent the e-mail to {to}")
        return sent
