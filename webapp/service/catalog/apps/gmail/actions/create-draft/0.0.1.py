"""Write a draft."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context

from .. import common


class CreateDraft(Action):
    name = "Create draft"
    description = (
        "Write a draft of an e-mail, to be read and sent later. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.drafts/create)"
    )
    annotations = CREATES

    gmail = common.account
    to = common.to_prop.but(optional=True)
    cc = common.cc_prop
    bcc = common.bcc_prop
    subject = common.subject_prop
    body = common.body_prop
    body_type = common.body_type_prop
    attachments = common.attachments_prop
    from_name = common.from_name_prop
    from_email = common.from_email_prop

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        headers = {
            "From": common.sender(ctx),
            "To": common.listed(props.to),
            "Cc": common.listed(props.cc),
            "Bcc": common.listed(props.bcc),
        }
        message = {"raw": common.composed(ctx, props.subject, headers)}
        draft = ctx.http.post("/users/me/drafts", json={"message": message}).json()
        ctx.export("$summary", f"Wrote the draft {props.subject}")
        return draft
