"""The public directory of OpenAPI documents over the API (contract "Who may call what")."""

from typing import Literal

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty
from webapp.errors import Forbidden, NotFound

State = Literal["waiting", "working", "failed", "done"]
Step = Literal["looking", "downloading", "indexing"]
_PATH, _DOWNLOAD = "/v1/directory", "/v1/directory/download"


class DirectoryDocument(Lenient):
    """A document. ``app`` is the slug of the app that was imported from it, "" for none; ``slug`` is a free one."""

    name: NonEmpty
    title: NonEmpty = Field(default_factory=lambda data: data["name"])
    description: str = ""
    hosts: tuple[str, ...] = ()
    operations: int = 0
    app: str = ""
    slug: str = ""


class DirectoryFacts(Lenient):
    """Which directory it is. ``published_at`` is None if nobody knows it."""

    version: str = ""
    published_at: str | None = None
    added_at: str | None = None
    documents: int = 0
    operations: int = 0

    @property
    def date(self) -> str | None:
        """Since when its documents are at least this old."""
        return self.published_at or self.added_at


class DirectoryDownload(Lenient):
    """How far the directory is brought: ``done`` of nearly ``expected`` bytes or documents, as ``step`` counts."""

    state: State
    step: Step = "looking"
    done: int = 0
    expected: int = 0
    error: str = ""
    version: str = ""

    @property
    def is_active(self) -> bool:
        """Whether it waits or is at work."""
        return self.state in ("waiting", "working")


class Directory(Lenient):
    """What a search found, and which directory there is and is being brought; None where there is none."""

    items: tuple[DirectoryDocument, ...] = Field((), alias="data")
    facts: DirectoryFacts | None = Field(None, alias="directory")
    download: DirectoryDownload | None = None


class DirectoryClient:
    """The directory of an installation. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def search(self, q: str, limit: int) -> Directory | None:
        """The documents that match ``q``; None where the service has no directories, or does not let us see it."""
        try:
            return Directory.model_validate(self._client.as_project("GET", _PATH, params={"q": q, "limit": limit}))
        except (NotFound, Forbidden):
            return None

    def bring(self) -> None:
        """Have it brought, or a newer one, unless it is being brought."""
        self._client.as_project("PUT", _DOWNLOAD)

    def stop(self) -> None:
        """End what is being brought, or dismiss what failed."""
        self._client.as_project("DELETE", _DOWNLOAD)

    def remove(self) -> None:
        """Remove it. Raises :class:`NotFound`, and :class:`webapp.errors.Conflict` while it is being brought."""
        self._client.as_project("DELETE", _PATH)
