"""Apps that are imported from OpenAPI documents and MCP servers over the API (contract "Who may call what")."""

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import AppOrigin, Lenient, NonEmpty
from webapp.errors import Forbidden, NotFound

PATIENCE_S = 120.0  # a large document is written and its catalog built meanwhile
_PATH = "/v1/imported_apps"
_SERVER = "mcp:"
_GZIP = "data:application/gzip;base64,"


class ImportedApp(Lenient):
    """An app that was imported; ``source`` is the address or the name of its document, or ``mcp:`` and a server's.

    ``directory`` is its name in the public directory, "" for another one. ``held`` are actions that wait for an owner's
    look.
    """

    slug: NonEmpty = Field(alias="name_slug")
    name: str = ""
    version: str = ""
    source: str = ""
    directory: str = ""
    imported_at: str = ""
    actions: int = 0
    accounts: int = 0
    held: list[str] = Field(default_factory=list)

    @property
    def has_address(self) -> bool:
        """Whether its document can be had again by itself."""
        return self.source.startswith(("https://", "http://"))

    @property
    def server(self) -> str:
        """The address of the MCP server that it comes from, "" for another one."""
        return self.source.removeprefix(_SERVER) if self.source.startswith(_SERVER) else ""


class _Listed(Lenient):
    data: list[ImportedApp] = Field(default_factory=list)


class ImportOperation(Lenient):
    """An operation. ``action`` is what it becomes; where it becomes none, ``reason`` may say why."""

    id: NonEmpty = Field(alias="operation")
    title: str = ""
    tags: list[str] = Field(default_factory=list)
    deprecated: bool = False
    action: str | None = None
    notes: list[str] = Field(default_factory=list)
    reason: str | None = None

    @property
    def can_be_chosen(self) -> bool:
        """Whether it could be an action."""
        return self.action is not None or self.reason is None or self.deprecated


class ImportGroup(Lenient):
    """A tag, or what the paths of operations without one begin with, and how many operations it has."""

    name: NonEmpty
    operations: int = 0


class ImportTool(Lenient):
    """A tool of an MCP server that has changed: as it was and as it is; "" for one that is new or gone."""

    name: NonEmpty
    before: str = ""
    after: str = ""


class ImportReport(Lenient):
    """What an import did, or would do, and what may be chosen.

    ``excess`` operations were chosen, where these are more than the ``most`` that an app may have; 0 otherwise.
    """

    slug: NonEmpty = Field(alias="name_slug")
    name: str = ""
    version: str = ""
    auth: str = ""
    auth_choices: list[str] = Field(default_factory=list)
    server: str | None = None
    server_choices: list[str] = Field(default_factory=list)
    test: str = ""
    test_choices: list[str] = Field(default_factory=list)
    hosts: list[str] = Field(default_factory=list)
    operations: list[ImportOperation] = Field(default_factory=list)
    groups: list[ImportGroup] = Field(default_factory=list)
    total: int = Field(default_factory=lambda data: len(data["operations"]))
    excess: int = 0
    most: int = 0
    added: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    same: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    by_hand: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    origin: AppOrigin | None = None
    removed_runs: Mapping[str, int] = Field(default_factory=dict)
    tools: list[ImportTool] = Field(default_factory=list)

    @property
    def tags(self) -> Mapping[str, int]:
        """How many operations stand under each tag, of all that the document has."""
        counts = {group.name: group.operations for group in self.groups}
        if counts:
            return counts
        for operation in self.operations:
            for tag in operation.tags:
                counts[tag] = counts.get(tag, 0) + 1
        return counts


@dataclass(frozen=True, slots=True)
class Server:
    """The MCP server at ``url``; its tools are listed with an account of the app, if there is an ``account_id``."""

    url: str
    account_id: str = ""
    project_id: str = ""
    environment: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document, its ``url``, its name in the public ``directory``, or an MCP ``server`` instead. ``name`` is that of
    its file."""

    content: bytes = b""
    name: str = ""
    url: str = ""
    directory: str = ""
    server: Server | None = None

    def body(self) -> dict[str, Any]:
        """As the API takes it."""
        if self.server:
            return {"mcp": asdict(self.server)}
        if self.url:
            return {"url": self.url}
        if self.directory:
            return {"directory": self.directory}
        packed = base64.b64encode(gzip.compress(self.content, 6)).decode("ascii")
        return {"document": f"{_GZIP}{packed}", "source": self.name}


class ImportedApps:
    """The imported apps of an installation. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> Sequence[ImportedApp] | None:
        """All by slug; ``None`` where the dashboard's own client may not."""
        try:
            return read(_Listed, self._client.as_project("GET", _PATH)).data
        except (NotFound, Forbidden):
            return None

    def bring(self, slug: str, document: Document, options: Mapping[str, Any], *, preview: bool) -> ImportReport:
        """Import ``document`` as ``slug``, or tell what would come of it.

        Raises :class:`webapp.errors.Invalid`, :class:`webapp.errors.Conflict`.
        """
        body = {**document.body(), **options, "preview": preview}
        return read(ImportReport, self._client.as_project("PUT", _below(slug), body=body, timeout=PATIENCE_S))

    def remove(self, slug: str) -> None:
        """Remove one. Raises :class:`NotFound`, :class:`webapp.errors.Conflict` while it has accounts."""
        self._client.as_project("DELETE", _below(slug), timeout=PATIENCE_S)


def _below(slug: str) -> str:
    return f"{_PATH}/{quote(slug, safe='')}"
