"""Download a file, from the address to which Box redirects."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import READS
from webapp.service.components.authoring import Action, ComponentError, Context, HttpError, app, string


class DownloadFile(Action):
    name = "Download file"
    description = "Download a file. [See the documentation](https://developer.box.com/reference/get-files-id-content)"
    annotations = READS
    stash = "optional"

    box = app("box")
    file_id = string(label="File", description="Its id, as Search content gives it.")

    def run(self, ctx: Context) -> Any:
        place = f"/files/{quote(ctx.props.file_id, safe='')}"
        name = ctx.http.get(place, params={"fields": "name"}).json()["name"].replace("/", "_")
        answer = ctx.http.get(f"{place}/content", check=False)
        if answer.status == 202:
            raise ComponentError("Box is not done with the file yet. Try again in a few seconds.")
        if answer.status == 302:
            answer = ctx.http.get(answer.headers["location"])
        if not answer.ok:
            raise HttpError(f"Box answered with status {answer.status}.", answer.status, answer.body)
        ctx.files.write(name, answer.body)
        ctx.export("$summary", f"Downloaded {name}")
        return {"name": name, "size": len(answer.body), "content_type": answer.content_type}
