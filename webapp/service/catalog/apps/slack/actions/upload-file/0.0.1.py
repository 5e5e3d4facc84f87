"""Upload a file to a channel, in Slack's three steps."""

import json
from typing import Any

from webapp.service.catalog.shared.files import content_of
from webapp.service.catalog.shared.hints import CREATES, counted
from webapp.service.components.authoring import Action, ComponentError, Context, string

from ..channels import channel_prop
from ..common import account, call, timestamp_prop


class UploadFile(Action):
    name = "Upload file"
    description = (
        "Upload a file to a channel or a direct message: a text, from a URL, or from the stash. "
        "[See the documentation](https://docs.slack.dev/reference/methods/files.getUploadURLExternal)"
    )
    annotations = CREATES

    slack = account
    channel = channel_prop.but(with_label=True, aliases=("conversation",))
    file = string(
        label="File",
        description="An address, or a file of the stash that the run names.",
        format="file-ref",
        optional=True,
        aliases=("url",),
    )
    text = string(label="Text", description="The content of the file, instead of a file.", optional=True)
    filename = string(label="File name", description="Such as report.csv. Empty for that of the file.", optional=True)
    comment = string(label="Message", description="What to say with it.", optional=True)
    thread_ts = timestamp_prop.but(
        label="Thread", description="The ts of a message to reply to. Empty for a new message.", optional=True
    )

    def run(self, ctx: Context) -> Any:
        props, (name, content) = ctx.props, _content(ctx)
        place = call(ctx, "files.getUploadURLExternal", filename=name, length=len(content))
        # The address is Slack's own secret for this one file, and takes no credential.
        ctx.http.post(place["upload_url"], data=content, headers={"Content-Type": "application/octet-stream"})
        file = {"id": place["file_id"], "title": name}
        uploaded = call(
            ctx,
            "files.completeUploadExternal",
            files=json.dumps([file]),
            channel_id=props.channel,
            initial_comment=props.comment,
            thread_ts=props.thread_ts,
        )
        where = ctx.label("channel") or props.channel
        ctx.export("$summary", f"Uploaded {name} ({counted(len(content), 'byte')}) to {where}")
        return uploaded["files"][0]


def _content(ctx: Context) -> tuple[str, bytes]:
    """The name and the content of the file."""
    text, place = ctx.props.text, ctx.props.file
    if bool(text) == bool(place):
        raise ComponentError("Enter either a file or a text.")
    name, content = ("text.txt", str(text).encode()) if text else content_of(ctx, place)
    if not content:
        raise ComponentError("The file is empty. Slack takes none.")
    return ctx.props.filename or name, content
