"""Download what is attached to an e-mail."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, ComponentError, Context, Option, Options, app, string


def find_attachments(ctx: Context) -> Options:
    """The files that are attached to the chosen message."""
    if ctx.page or not ctx.props.message_id:
        return Options([])
    return Options([Option(file["name"], file["id"]) for file in _files(ctx)])


class DownloadAttachment(Action):
    name = "Download attachment"
    description = (
        "Download a file that is attached to an e-mail. "
        "[See the documentation](https://learn.microsoft.com/en-us/graph/api/attachment-get)"
    )
    annotations = READS
    stash = "optional"

    microsoft_outlook = app("microsoft_outlook")
    message_id = string(label="Message", description="Its id, as Find email gives it.")
    attachment_id = string(label="Attachment", options=find_attachments)

    def run(self, ctx: Context) -> Any:
        file = next((file for file in _files(ctx) if file["id"] == ctx.props.attachment_id), None)
        if file is None:
            raise ComponentError("The e-mail has no such attachment. Choose another one.")
        content = ctx.http.get(f"{_place(ctx)}/{quote(file['id'], safe='')}/$value").body
        name = file["name"].replace("/", "_")
        ctx.files.write(name, content)
        ctx.export("$summary", f"Downloaded {name}")
        return {"name": name, "size": len(content), "content_type": file.get("contentType")}


def _place(ctx: Context) -> str:
    return f"/me/messages/{quote(ctx.props.message_id, safe='')}/attachments"


def _files(ctx: Context) -> list[dict[str, Any]]:
    answer = ctx.http.get(_place(ctx), params={"$select": "id,name,contentType,size"}).json()
    files: list[dict[str, Any]] = answer.get("value", [])
    return files
