"""The public directory of OpenAPI documents over the API (contract "Who may call what")."""

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty
from webapp.errors import Forbidden, NotFound

_PATH = "/v1/directory"


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

    @property
    def date(self) -> str | None:
        """Since when its documents are at least this old."""
        return self.published_at or self.added_at


class Directory(Lenient):
    """What a search found, and which directory there is; None where there is none."""

    items: tuple[DirectoryDocument, ...] = Field((), alias="data")
    facts: DirectoryFacts | None = Field(None, alias="directory")


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
