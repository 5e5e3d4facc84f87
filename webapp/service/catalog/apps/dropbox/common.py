"""What Dropbox's components in Python share: the account, folders page by page, and contents, which have a host of
their own."""

import json
from collections.abc import Iterator
from typing import Any

from webapp.service.components.authoring import ComponentError, Context, HttpResponse, app, string

_PAGES = 50
Entry = dict[str, Any]


def content(ctx: Context, verb: str, argument: Entry, data: bytes = b"") -> HttpResponse:
    """Ask the host of contents, which takes its argument as JSON in a header, in ASCII alone."""
    headers = {"Dropbox-API-Arg": json.dumps(argument)} | ({"Content-Type": "application/octet-stream"} if data else {})
    base = ctx.account.base_url or ""
    return ctx.http.post(f"{base.replace('://api.', '://content.')}/files/{verb}", data=data, headers=headers)


def entries(ctx: Context, path: str, *, recursive: bool, most: int) -> list[Entry]:
    """What a folder holds, up to ``most``."""
    listed: list[Entry] = []
    answer = ctx.http.post("/files/list_folder", json={"path": path, "recursive": recursive, "limit": min(most, 2000)})
    for page in pages(ctx, answer.json()):
        listed += page["entries"]
        if len(listed) >= most:
            break
    return listed[:most]


def pages(ctx: Context, page: Entry) -> Iterator[Entry]:
    """``page`` and those that follow it."""
    for _ in range(_PAGES):
        yield page
        if not page.get("has_more"):
            return
        page = ctx.http.post("/files/list_folder/continue", json={"cursor": page["cursor"]}).json()
    raise ComponentError("The folder contains more than can be searched at once. Choose a smaller one.")


account = app("dropbox")
folder_prop = string(label="Folder", description="Its path, such as /reports. Empty for all.", optional=True)
