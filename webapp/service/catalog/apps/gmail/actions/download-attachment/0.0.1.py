"""Download what is attached to an e-mail."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, ComponentError, Context, HttpError, Option, Options, string

from .. import common


def find_attachments(ctx: Context) -> Options:
    """What is attached to the chosen message. The name is the value: Gmail's ids of attachments change."""
    if ctx.page or not ctx.props.message_id:
        return Options([])
    names = [file["name"] for file in common.fetch(ctx, ctx.props.message_id)["attachments"]]
    return Options([Option(name, name) for name in names])


class DownloadAttachment(Action):
    name = "Download attachment"
    description = (
        "Download a file that is attached to an e-mail. "
        "[See the documentation](https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages.attachments/get)"
    )
    annotations = READS
    stash = "optional"

    gmail = common.account
    message_id = common.message_prop
    attachment = string(
        label="Attachment", description="Its name, or the id that Gmail gave for it lately.", options=find_attachments
    )
    filename = string(label="Name of the file", description="That of the attachment unless given.", optional=True)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        attachments = common.fetch(ctx, props.message_id)["attachments"]
        by_id = {"id": props.attachment, "name": ctx.label("attachment") or "attachment", "content_type": None}
        file = next((file for file in attachments if props.attachment in (file["name"], file["id"])), by_id)
        place = common.message_url(props.message_id, f"/attachments/{quote(file['id'], safe='')}")
        try:
            content = common.decoded(ctx.http.get(place).json()["data"])
        except HttpError as error:
            if file is not by_id or error.status not in (400, 404):
                raise
            raise ComponentError(f"The e-mail has no attachment {props.attachment}. Choose another one.") from error
        name = (props.filename or file["name"]).replace("/", "_")
        ctx.files.write(name, content)
        ctx.export("$summary", f"Downloaded {name}")
        return {"name": name, "size": len(content), "content_type": file["content_type"]}
