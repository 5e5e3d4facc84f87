"""Download what is attached to an e-mail."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, ComponentError, Context, Option, Options, string

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
    attachment = string(label="Attachment", options=find_attachments)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        attachments = common.fetch(ctx, props.message_id)["attachments"]
        file = next((file for file in attachments if file["name"] == props.attachment), None)
        if file is None:
            raise ComponentError(f"The e-mail has no attachment {props.attachment}. Choose another one.")
        place = common.message_url(props.message_id, f"/attachments/{quote(file['id'], safe='')}")
        content = common.decoded(ctx.http.get(place).json()["data"])
        name = file["name"].replace("/", "_")
        ctx.files.write(name, content)
        ctx.export("$summary", f"Downloaded {name}")
        return {"name": name, "size": len(content), "content_type": file["content_type"]}
