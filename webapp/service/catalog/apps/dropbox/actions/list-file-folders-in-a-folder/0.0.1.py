"""List what a folder holds."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, boolean, integer

from .. import common


class ListFileFoldersInAFolder(Action):
    name = "List files and folders"
    description = (
        "List the files and folders of a folder. "
        "[See the documentation](https://www.dropbox.com/developers/documentation/http/documentation#files-list_folder)"
    )
    annotations = READS

    dropbox = common.account
    folder = common.folder_prop
    recursive = boolean(
        label="Those of its folders too",
        description="Whether files in folders below it count, too.",
        default=False,
        optional=True,
    )
    most = integer(label="At most", default=1000, min=1, max=20_000, optional=True)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        entries = common.entries(ctx, props.folder or "", recursive=bool(props.recursive), most=props.most)
        ctx.export("$summary", f"Listed {counted(entries, 'file')}")
        return entries
