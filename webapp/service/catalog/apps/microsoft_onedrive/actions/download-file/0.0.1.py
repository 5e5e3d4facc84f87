"""Download a file, from the address that Microsoft gives for it."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, ComponentError, Context, app, string


class DownloadFile(Action):
    name = "Download file"
    description = (
        "Download a file. [See the documentation](https://learn.microsoft.com/en-us/graph/api/driveitem-get-content)"
    )
    annotations = READS
    stash = "optional"

    microsoft_onedrive = app("microsoft_onedrive")
    item_id = string(label="File", description="Its id, as Find file gives it.")

    def run(self, ctx: Context) -> Any:
        file = ctx.http.get(f"/me/drive/items/{quote(ctx.props.item_id, safe='')}").json()
        address = file.get("@microsoft.graph.downloadUrl")
        if not address:
            raise ComponentError(f"{file.get('name', 'This')} is a folder. Choose a file.")
        content = ctx.http.get(address).body  # the address carries its own permission
        name = file["name"].replace("/", "_")
        ctx.files.write(name, content)
        ctx.export("$summary", f"Downloaded {name}")
        return {"name": name, "size": len(content), "content_type": file.get("file", {}).get("mimeType")}
