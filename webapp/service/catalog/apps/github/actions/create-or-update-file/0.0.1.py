"""Write a file in a repository, as a commit of its own."""

import base64
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import SPENDS
from webapp.service.components.authoring import Action, ComponentError, Context, HttpError, app, string

from .. import common


class CreateOrUpdateFile(Action):
    name = "Create or update file"
    description = (
        "Write a file in a repository, as a commit of its own. [See the documentation]"
        "(https://docs.github.com/en/rest/repos/contents#create-or-update-file-contents)"
    )
    annotations = SPENDS

    account = app("github")
    repository = common.repository
    path = string(label="Path", description="Where the file stands, such as docs/notes.md.")
    content = string(label="Content", description="The whole text of the file.")
    message = string(label="Commit message")
    branch = common.branch

    def run(self, ctx: Context) -> Any:
        address = common.of_repository(ctx, "contents", quote(ctx.props.path.strip("/")))
        commit = common.filled(ctx, "message", "branch") | self._replaced(ctx, address)
        commit["content"] = base64.b64encode(ctx.props.content.encode()).decode("ascii")
        written = ctx.http.put(address, json=commit).json()
        ctx.export("$summary", f"{'Updated' if 'sha' in commit else 'Created'} {written['content']['path']}")
        return written

    def _replaced(self, ctx: Context, address: str) -> dict[str, str]:
        """The blob that the new content replaces, which GitHub wants to hear; nothing for a new file."""
        try:
            entry = ctx.http.get(address, params={"ref": ctx.props.branch}).json()
        except HttpError as error:
            if error.status != 404:
                raise
            return {}
        if isinstance(entry, list):
            raise ComponentError(f"{ctx.props.path} is a folder. Give the path of a file.")
        return {"sha": entry["sha"]}
