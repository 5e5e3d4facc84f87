"""The whole API of an app, which owners add to its actions over the API (contract "Who may call what")."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty
from webapp.errors import Forbidden, NotFound
from webapp.kit import text

PATIENCE_S = 240.0  # a package is brought from its registry, and the catalog built, meanwhile
_PATH = "/v1/extended_apps"
_REGISTRIES = {"npm": "npm", "pypi": "PyPI"}


class ApiDocument(Lenient):
    """A document. ``brought_at`` is None until it was brought; ``waiting_hosts`` are hosts that the app lacks."""

    name: str = ""
    package: str = ""
    version: str = ""
    integrity: str = ""
    source: str = ""
    brought_at: str | None = None
    document_version: str = ""
    operations: int = 0
    actions: int = 0
    hosts: tuple[str, ...] = ()
    waiting_hosts: Mapping[str, int] = Field(default_factory=dict)

    @property
    def registry(self) -> str:
        """The name of the registry that has the package."""
        prefix = self.package.partition(":")[0]
        return _REGISTRIES.get(prefix, prefix)

    @property
    def release(self) -> str:
        """The package and its version."""
        return f"{self.package.partition(':')[2]} {self.version}".strip()


class ApiOperation(Lenient):
    """An operation; ``action`` is the key of what it is, or would be, if it can be one."""

    id: NonEmpty = Field(alias="operation")
    title: str = ""
    tag: str = ""
    action: str | None = None
    is_on: bool = Field(False, alias="on")
    deprecated: bool = False
    reason: str | None = None


class ApiTag(Lenient):
    """A group of operations: their number, how many are on, and how many could be."""

    name: str = Field("", alias="tag")
    operations: int = 0
    on: int = 0
    possible: int = 0

    @property
    def heading(self) -> str:
        """Its name for people."""
        return text.heading(self.name)


class ExtendedApp(Lenient):
    """An app whose provider describes its whole API. ``matching`` is the number of operations that were found."""

    slug: NonEmpty = Field(alias="name_slug")
    name: str = ""
    documents: tuple[ApiDocument, ...] = ()
    operations: tuple[ApiOperation, ...] = ()
    tags: tuple[ApiTag, ...] = ()
    matching: int = 0
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    removed_runs: Mapping[str, int] = Field(default_factory=dict)

    @property
    def is_here(self) -> bool:
        """Whether a document was brought."""
        return any(document.brought_at for document in self.documents)

    @property
    def on(self) -> int:
        """The number of its operations that are actions."""
        return sum(document.actions for document in self.documents)

    @property
    def releases(self) -> Sequence[ApiDocument]:
        """The documents, of each package the first."""
        return list({document.package: document for document in self.documents}.values())

    @property
    def waiting(self) -> Mapping[str, int]:
        """The hosts that the app does not have, with the number of operations there."""
        hosts: dict[str, int] = {}
        for document in self.documents:
            for host, count in document.waiting_hosts.items():
                hosts[host] = hosts.get(host, 0) + count
        return hosts


class ExtendedApps:
    """The whole APIs of an installation's apps. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def get(
        self, slug: str, *, q: str = "", tag: str = "", offset: int = 0, limit: int | None = None
    ) -> ExtendedApp | None:
        """That of the app, with the operations that match ``q`` or have the ``tag``, and without either with none.

        ``limit`` of them after the first ``offset``; all without it. None where there is none, or the dashboard's own
        client may not.
        """
        search: dict[str, str | int] = {"q": q} if q else {"tag": tag} if tag else {"summary": "true"}
        window = {"offset": offset, "limit": limit} if limit and (q or tag) else {}
        try:
            return read(ExtendedApp, self._client.as_project("GET", _below(slug), params={**search, **window}))
        except (NotFound, Forbidden):
            return None

    def choose(self, slug: str, **choice: Any) -> ExtendedApp:
        """Choose its operations: ``only``, or ``add``, ``remove`` and ``hosts``.

        Raises :class:`webapp.errors.Invalid`, :class:`webapp.errors.Conflict`, :class:`webapp.errors.UpstreamFailed`.
        """
        return read(ExtendedApp, self._client.as_project("PUT", _below(slug), body=choice, timeout=PATIENCE_S))

    def update(self, slug: str, releases: Sequence[Mapping[str, str]] = ()) -> ExtendedApp:
        """What the newest releases would change; with ``releases``, use these."""
        path, body = f"{_below(slug)}/update", {"releases": list(releases)}
        return read(ExtendedApp, self._client.as_project("POST", path, body=body, timeout=PATIENCE_S))

    def remove(self, slug: str) -> None:
        """Remove its actions. Raises :class:`NotFound`."""
        self._client.as_project("DELETE", _below(slug), timeout=PATIENCE_S)


def _below(slug: str) -> str:
    return f"{_PATH}/{quote(slug, safe='')}"
