"""Upload a file to a channel, in Slack's three steps."""

import json
from typing import Any

from webapp.service.catalog.shared.hints import CREATES, counted
from webapp.service.components.authoring import Action, ComponentError, Context, string

from ..channels import channel_prop
from ..common import account, call, timestamp_prop


class UploadFile(Action):
    name = "Upload file"
    description = (
        "Upload a file to a channel or a direct message: text, or what stands at an address. "
        "[See the documentation](https://docs.slack.dev/reference/methods/files.getUploadURLExternal)"
    )
    annotations = CREATES

    slack = account
    channel = channel_prop.but(with_label=True, aliases=("conversation",))
    filename = string(label="File name", description="Such as report.csv.")
    content = string(label="Text", description="What the file holds. Empty to take it from an address.", optional=True)
    url = string(
        label="Address", description="Where the file stands, such as https://example.com/a.pdf.", optional=True
    )
    comment = string(label="Message", description="What to say with it.", optional=True)
    thread_ts = timestamp_prop.but(
        label="Thread", description="The ts of a message to reply to. Empty for a new message.", optional=True
    )

    def run(self, ctx: Context) -> Any:
        props, content = ctx.props, _content(ctx)
        place = call(ctx, "files.getUploadURLExternal", filename=props.filename, length=len(content))
        # The address is Slack's own secret for this one file, and takes no credential.
        ctx.http.post(place["upload_url"], data=content, headers={"Content-Type": "application/octet-stream"})
        file = {"id": place["file_id"], "title": props.filename}
        uploaded = call(
            ctx,
            "files.completeUploadExternal",
            files=json.dumps([file]),
            channel_id=props.channel,
            initial_comment=props.comment,
            thread_ts=props.thread_ts,
        )
        where = ctx.label("channel") or props.channel
        ctx.export("$summary", f"Uploaded {props.filename} ({counted(len(content), 'byte')}) to {where}")
        return uploaded["files"][0]


def _content(ctx: Context) -> bytes:
    if bool(ctx.props.content) == bool(ctx.props.url):
        raise ComponentError("Enter either the text of the file or its address.")
    if ctx.props.content:
        return str(ctx.props.content).encode()
    if not ctx.props.url.startswith(("https://", "http://")):
        raise ComponentError("The address must begin with https://.")
    content = ctx.http.get(ctx.props.url).body
    if not content:
        raise ComponentError("There is an empty file at the address. Slack takes none.")
    return content
