"""The public directory of OpenAPI documents, for administrators of the workspace: which one is here, a search, and how
it is brought.
"""

from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp.kit import cursors
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Answer, DateTime, Limit, Query
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.base import token_scopes
from webapp.service.domain.instance import directory as directories
from webapp.service.domain.instance import directory_download
from webapp.service.domain.instance.directory import Match

ALL, DOWNLOAD = "/v1/directory", "/v1/directory/download"
operations = Operations(
    Group("Public directory", "OpenAPI documents of many providers, to be imported as apps. None is curated."),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)


class DirectorySearch(Query):
    """The words to search for, and how many documents at most."""

    q: str = Field("", max_length=400, description="Words of names, hosts, categories or operations; all must match.")
    limit: Limit = Field(cursors.DEFAULT_LIMIT, description="How many at most.")


class DirectoryDocument(Answer):
    """A document. `app` is the slug of the app that was imported from it, or empty; `slug` one that is free."""

    name: str = Field(examples=["googleapis.com:calendar"])
    title: str = Field(examples=["Calendar API"])
    version: str = Field(examples=["v3"], description="The document's own.")
    description: str = Field(examples=["Manipulates events and other calendar data."])
    hosts: list[str] = Field(examples=[["www.googleapis.com"]])
    categories: list[str] = Field(examples=[["analytics", "media"]])
    operations: int = Field(examples=[37])
    size: int = Field(examples=[120000], description="In bytes.")
    app: str = Field(examples=[""])
    slug: str = Field(examples=["google_calendar_api"])


class DirectoryFacts(Answer):
    """Which directory it is. `left_out` are documents that are too large or hold no operation."""

    version: str = Field(examples=["1.3.17"])
    integrity: str = Field(examples=["sha512-…"])
    source: str = Field(examples=["the npm registry"], description="Where it came from, or the name of its file.")
    published_at: DateTime | None
    added_at: DateTime
    documents: int = Field(examples=[2627])
    operations: int = Field(examples=[102839])
    left_out: list[str] = Field(examples=[["microsoft.com:graph-beta"]])


class DirectoryDownload(Answer):
    """How far the directory is brought. `done` counts bytes while it is downloading, documents while it is indexing.

    `error` is why it failed; `version` what was brought, empty where nothing newer was found.
    """

    state: Literal["waiting", "working", "failed", "done"]
    step: Literal["looking", "downloading", "indexing"]
    done: int = Field(examples=[28855143])
    expected: int = Field(examples=[45000000], description="What `done` comes to, nearly; 0 while that is not known.")
    error: str = Field(examples=[""])
    version: str = Field(examples=[""])
    began_at: DateTime


class Directory(Answer):
    """What a search found, the nearest first, and which directory is on this machine; null if there is none.

    `download` is the one that was asked for last; null if that was stopped or dismissed.
    """

    data: list[DirectoryDocument]
    directory: DirectoryFacts | None
    download: DirectoryDownload | None


@operations.get(ALL, answer=Directory, query=DirectorySearch, example=Example(query={"q": "create invoice"}))
def search_directory(call: Call) -> Response:
    """Documents of the public directory; none without words."""
    query = call.query(DirectorySearch)
    present, download = directories.about(call.service), directory_download.current(call.service)
    matches = directories.search(call.service, query.q, query.limit) if present else []
    return answer(
        {
            "data": [_shown(call, match) for match in matches],
            "directory": directories.to_json(present) if present else None,
            "download": download.to_json() if download else None,
        }
    )


@operations.put(DOWNLOAD, answer=DirectoryDownload)
def bring_directory(call: Call) -> Response:
    """Have the worker bring the directory: the known version, or the newest one where a directory is here."""
    return answer(directory_download.begin(call.service).to_json())


@operations.delete(DOWNLOAD)
def stop_directory_download(call: Call) -> Response:
    """End what is being brought, or dismiss what failed. What was here before stays."""
    directory_download.stop(call.service)
    return no_content()


@operations.delete(ALL, errors=(404,))
def delete_directory(call: Call) -> Response:
    """Remove the directory; imported apps stay. 404 if there is none, and 409 while it is being brought."""
    directory_download.remove(call.service)
    return no_content()


def _shown(call: Call, match: Match) -> dict[str, Any]:
    return {**match.to_json(), "slug": match.app or directories.free_slug(call.service, match.entry.name)}
