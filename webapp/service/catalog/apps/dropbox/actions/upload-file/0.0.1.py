"""Upload a file."""

from typing import Any

from webapp.service.catalog.shared.files import content_of
from webapp.service.catalog.shared.hints import OVERWRITES, counted
from webapp.service.components.authoring import Action, ComponentError, Context, Option, string

from .. import common


class UploadFile(Action):
    name = "Upload file"
    description = (
        "Upload a file: a text, from a URL, or from the stash. "
        "[See the documentation](https://www.dropbox.com/developers/documentation/http/documentation#files-upload)"
    )
    annotations = OVERWRITES

    dropbox = common.account
    path = string(label="Path", description="The whole path with the name, such as /reports/plan.pdf.")
    filename = string(label="Name", description="Of the file within that path, if it is not part of it.", optional=True)
    file = string(
        label="File",
        description="An address, or a file of the stash that the run names.",
        format="file-ref",
        optional=True,
    )
    text = string(label="Text", description="The content of the file, instead of a file.", optional=True)
    mode = string(
        label="Where there is one of that name",
        default="add",
        optional=True,
        options=[Option("Give it a number", "add"), Option("Replace it", "overwrite")],
    )

    def run(self, ctx: Context) -> Any:
        data = _content(ctx)
        path = "/".join(part.strip("/") for part in (ctx.props.path, ctx.props.filename or "") if part.strip("/"))
        argument = {"path": f"/{path}", "mode": ctx.props.mode, "autorename": ctx.props.mode == "add"}
        uploaded = common.content(ctx, "upload", argument, data).json()
        ctx.export("$summary", f"Uploaded {uploaded['path_display']} ({counted(len(data), 'byte')})")
        return uploaded


def _content(ctx: Context) -> bytes:
    text, place = ctx.props.text, ctx.props.file
    if bool(text) == bool(place):
        raise ComponentError("Enter either a file or a text.")
    return str(text).encode() if text else content_of(ctx, place)[1]
