"""Tell of each file that is added or changed, by the cursor that Dropbox gives."""

from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import Context, HttpError, Trigger, boolean, service_db, timer

from .. import common

_RESET = 409  # Dropbox has forgotten the cursor


class NewFile(Trigger):
    name = "New file"
    description = (
        "Each file that is added to a folder or anywhere, or changed there. "
        "[See the documentation](https://www.dropbox.com/developers/documentation/http/documentation#files-list_folder-get_latest_cursor)"
    )
    dedupe = "unique"

    dropbox = common.account
    folder = common.folder_prop
    recursive = boolean(
        label="Those of its folders too",
        description="Whether files in folders below it count, too.",
        default=True,
        optional=True,
    )
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        ctx.db.set("cursor", self._now(ctx))
        entries = common.entries(ctx, ctx.props.folder or "", recursive=bool(ctx.props.recursive), most=2000)
        files = [entry for entry in entries if entry[".tag"] == "file"]
        self._emit(ctx, sorted(files, key=lambda file: str(file["server_modified"]))[-EXAMPLES:])

    def run(self, ctx: Context) -> None:
        cursor = ctx.db.get("cursor")
        entries: list[common.Entry] = []
        try:
            first = ctx.http.post("/files/list_folder/continue", json={"cursor": cursor}).json() if cursor else None
            for page in common.pages(ctx, first) if first else ():
                entries, cursor = [*entries, *page["entries"]], page["cursor"]
        except HttpError as error:
            if error.status != _RESET:
                raise
            ctx.log("Dropbox no longer knows what changed since the last check. Changes are noticed from now on.")
            cursor = None
        self._emit(ctx, [entry for entry in entries if entry[".tag"] == "file"])
        ctx.db.set("cursor", cursor or self._now(ctx))

    def _now(self, ctx: Context) -> str:
        place = {"path": ctx.props.folder or "", "recursive": bool(ctx.props.recursive)}
        cursor: str = ctx.http.post("/files/list_folder/get_latest_cursor", json=place).json()["cursor"]
        return cursor

    def _emit(self, ctx: Context, files: list[common.Entry]) -> None:
        for file in files:
            ctx.emit(file, id=f"{file['id']}-{file['rev']}", summary=file["path_display"])
