"""Download a file."""

from pathlib import PurePosixPath
from typing import Any

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, Context, string

from .. import common


class DownloadFile(Action):
    name = "Download file"
    description = (
        "Download a file. "
        "[See the documentation](https://www.dropbox.com/developers/documentation/http/documentation#files-download)"
    )
    annotations = READS
    stash = "optional"

    dropbox = common.account
    path = string(label="File", description="Its path, such as /reports/plan.pdf.")

    def run(self, ctx: Context) -> Any:
        answer = common.content(ctx, "download", {"path": ctx.props.path})
        name = PurePosixPath(ctx.props.path).name or "file"
        ctx.files.write(name, answer.body)
        ctx.export("$summary", f"Downloaded {name}")
        return {"name": name, "size": len(answer.body)}
