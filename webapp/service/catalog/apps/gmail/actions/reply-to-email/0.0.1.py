"""Reply to an e-mail, in its thread."""

from email.utils import getaddresses
from typing import Any

from webapp.service.catalog.shared.hints import SPENDS
from webapp.service.components.authoring import Action, ComponentError, Context, boolean

from .. import common


class ReplyToEmail(Action):
    name = "Reply to email"
    description = (
        "Reply to an e-mail, in its thread. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/guides/threads)"
    )
    annotations = SPENDS

    gmail = common.account
    message_id = common.message_prop
    body = common.body_prop
    body_type = common.body_type_prop
    reply_all = boolean(
        label="To everybody", description="Also to the others who got it.", default=False, optional=True
    )
    attachments = common.attachments_prop
    from_name = common.from_name_prop
    from_email = common.from_email_prop

    def run(self, ctx: Context) -> Any:
        original = ctx.http.get(common.message_url(ctx.props.message_id), params={"format": "metadata"}).json()
        payload = original["payload"]
        to = common.header(payload, "Reply-To") or common.header(payload, "From")
        if not to:
            raise ComponentError("The message does not say who sent it, so there is nobody to reply to.")
        subject, id = common.header(payload, "Subject") or "", common.header(payload, "Message-ID")
        headers = {
            "From": common.sender(ctx),
            "To": to,
            "Cc": _others(ctx, payload, to) if ctx.props.reply_all else None,
            "In-Reply-To": id,
            "References": " ".join(filter(None, [common.header(payload, "References"), id])),
        }
        subject = subject if subject.lower().startswith("re:") else f"Re: {subject}"
        message = {"raw": common.composed(ctx, subject, headers), "threadId": original["threadId"]}
        sent = ctx.http.post(f"{common.MESSAGES}/send", json=message).json()
        ctx.export("$summary", f"Replied to {to}")
        return sent


def _others(ctx: Context, payload: dict[str, Any], to: str) -> str:
    """Who else got the message: all but the account itself and whom the reply goes to anyway."""
    own = ctx.http.get("/users/me/profile").json()["emailAddress"]
    known = {own.lower(), *(address.lower() for _, address in getaddresses([to]))}
    got = getaddresses([common.header(payload, name) or "" for name in ("To", "Cc")])
    return common.listed([address for _, address in got if address.lower() not in known])
