"""Send an e-mail, with files where there are some."""

import base64
from collections.abc import Sequence
from typing import Any

from webapp.service.catalog.shared.files import content_of
from webapp.service.catalog.shared.hints import SPENDS
from webapp.service.components.authoring import Action, ComponentError, Context, Option, app, string, string_list

_MOST_BYTES = 3 * 2**20  # what a request to Microsoft may hold beside the rest
_ADDRESSES = "E-mail addresses."


class SendEmail(Action):
    name = "Send email"
    description = (
        "Send an e-mail from your mailbox, with files where you like. "
        "[See the documentation](https://learn.microsoft.com/en-us/graph/api/user-sendmail)"
    )
    annotations = SPENDS

    microsoft_outlook = app("microsoft_outlook")
    to = string_list(label="To", description=_ADDRESSES, aliases=("recipients",))
    cc = string_list(label="Cc", description=_ADDRESSES, aliases=("ccRecipients",), optional=True)
    bcc = string_list(label="Bcc", description=_ADDRESSES, aliases=("bccRecipients",), optional=True)
    subject = string(label="Subject")
    content = string(label="Text")
    content_type = string(
        label="Format",
        default="text",
        optional=True,
        options=[Option("Plain text", "text"), Option("HTML", "html")],
    )
    attachments = string_list(
        label="Attachments", description="Addresses, or files of the stash that the run names.", optional=True
    )

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        message = {
            "subject": props.subject,
            "body": {"contentType": props.content_type, "content": props.content},
            "toRecipients": _recipients(props.to),
            "ccRecipients": _recipients(props.cc),
            "bccRecipients": _recipients(props.bcc),
            "attachments": _attachments(ctx),
        }
        ctx.http.post("/me/sendMail", json={"message": {name: value for name, value in message.items() if value}})
        ctx.export("$summary", f"Sent the e-mail to {', '.join(props.to)}")
        return {"sent": True, "to": props.to}


def _recipients(addresses: Sequence[str] | None) -> list[Any]:
    return [{"emailAddress": {"address": address.strip()}} for address in addresses or [] if address.strip()]


def _attachments(ctx: Context) -> list[Any]:
    files = [content_of(ctx, place) for place in ctx.props.attachments or []]
    if sum(len(content) for _, content in files) > _MOST_BYTES:
        raise ComponentError(
            "The files are larger than 3 MB together, which Outlook does not take. Send links instead."
        )
    return [
        {
            "@odata.type": "#microsoft.graph.fileAttachment",
            "name": name,
            "contentBytes": base64.b64encode(content).decode(),
        }
        for name, content in files
    ]
