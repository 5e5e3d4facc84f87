"""Integrations from npm packages, which owners add over the API (contract "Integrations")."""

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty
from webapp.errors import Forbidden, NotFound

Source = Literal["registry", "tarball", "offline", "folder"]
State = Literal["adding", "ready", "writing", "added", "failed"]
PATIENCE_S = 60.0  # for the registry, and for a catalog that is built again
_PATH = "/v1/pieces"


class Part(Lenient):
    """An action or a trigger."""

    name: str = ""
    key: str = ""


class LeftOut(Lenient):
    """A part that cannot work here, and why."""

    name: str = ""
    kind: str = ""
    reason: str = ""


class RefusedHost(Lenient):
    """A host that the integration asked for and may not reach."""

    host: NonEmpty
    at: str | None = None


class ChangedPart(Lenient):
    """A part that a newer version changes, and how."""

    name: str = ""
    sentence: str = ""


class Changes(Lenient):
    """What a newer version changes."""

    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[ChangedPart, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def breaks(self) -> int:
        """How many parts somebody may feel."""
        return len(self.gone) + len(self.changed)


class Piece(Lenient):
    """An integration that was added, or is about to be.

    ``wanted`` is the version that is brought or waits for a yes, ``version`` the one that works meanwhile.
    """

    id: NonEmpty
    package: str = ""
    slug: str = Field("", alias="app")
    name: NonEmpty = Field(default_factory=lambda data: data["package"])
    description: str = ""
    version: str = ""
    wanted: str = ""
    newest: str = ""
    has_newer: bool = Field(False, alias="newer")
    published_at: str | None = None
    size: int = 0
    licence: str = ""
    licence_text: str = ""
    author: str = ""
    source: Source = "registry"
    origin: str = ""
    state: State = "added"
    step: int = 1
    error: str = ""
    hidden: bool = False
    actions: tuple[Part, ...] = ()
    triggers: tuple[Part, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    auth: str = ""
    hosts: tuple[str, ...] = ()
    proposed_hosts: tuple[str, ...] = ()
    refused_hosts: tuple[RefusedHost, ...] = ()
    changes: Changes | None = None
    accounts: int = 0
    deployed: int = 0
    pinned_versions: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether a version of it is in use already."""
        return bool(self.version)

    @property
    def at_work(self) -> bool:
        """Whether something is done with it right now."""
        return self.state in ("adding", "writing")

    @property
    def licence_notice(self) -> str:
        """The licence, and whose it is."""
        return ", ".join(filter(None, (self.licence, self.author)))

    @property
    def used(self) -> bool:
        """Whether somebody would feel its end."""
        return bool(self.accounts or self.deployed)


class Pieces(Lenient):
    """All of them, and the Node that runs them; none where there is no Node."""

    items: tuple[Piece, ...] = Field((), alias="data")
    node: str | None = None


class Package(Lenient):
    """A package that the registry knows. ``here``: whether it is here already, as ``id`` or as the app ``slug``."""

    package: NonEmpty
    name: NonEmpty = Field(default_factory=lambda data: data["package"])
    description: str = ""
    version: str = ""
    published_at: str | None = None
    size: int = 0
    licence: str = ""
    author: str = ""
    here: Literal["", "builtin", "added"] = ""
    slug: str = Field("", alias="app")
    id: str = Field("", alias="piece_id")

    @property
    def licence_notice(self) -> str:
        """The licence, and whose it is."""
        return ", ".join(filter(None, (self.licence, self.author)))


class Packages(Lenient):
    """What a search found. ``by_name`` where only packages of exactly such a name could be tried."""

    items: tuple[Package, ...] = Field((), alias="data")
    by_name: bool = False


class PieceClient:
    """The integrations of an installation. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> Pieces | None:
        """All by name; ``None`` where the service offers none."""
        try:
            return Pieces.model_validate(self._client.as_project("GET", _PATH))
        except (NotFound, Forbidden):
            return None

    def get(self, piece_id: str) -> Piece:
        """One, with its licence. Raises :class:`NotFound`."""
        return read(Piece, self._client.as_project("GET", _below(piece_id)))

    def search(self, q: str) -> Packages:
        """What the registry has by that name. Raises :class:`webapp.errors.Unavailable` where it does not answer."""
        answer = self._client.as_project("GET", "/v1/piece_packages", params={"q": q}, timeout=PATIENCE_S)
        return Packages.model_validate(answer)

    def begin(self, name: str, version: str = "") -> Piece:
        """Bring a package here and look at it; nobody sees it yet.

        Raises :class:`webapp.errors.Invalid`, :class:`webapp.errors.Conflict`.
        """
        body = {"name": name, **({"version": version} if version else {})}
        return read(Piece, self._client.as_project("POST", _PATH, body=body, timeout=PATIENCE_S))

    def look_for_newer(self) -> None:
        """Ask the registry for newer versions. Raises :class:`webapp.errors.Unavailable` where it does not answer."""
        self._client.as_project("POST", f"{_PATH}/look", timeout=PATIENCE_S)

    def confirm(self, piece_id: str, hosts: Sequence[str], *, version: str, hidden: bool) -> Piece:
        """Add what was looked at, the version ``version``, to reach only ``hosts``. Raises as :meth:`begin`."""
        return self._send("POST", piece_id, "confirm", {"hosts": list(hosts), "hidden": hidden, "version": version})

    def stop(self, piece_id: str) -> None:
        """Give up what is not added yet. Raises :class:`NotFound`, :class:`webapp.errors.Conflict`."""
        self._client.as_project("POST", _below(piece_id, "stop"))

    def hide(self, piece_id: str, *, hidden: bool) -> Piece:
        """Hide it from people, or show it."""
        return self._send("PATCH", piece_id, "", {"hidden": hidden})

    def set_hosts(self, piece_id: str, hosts: Sequence[str]) -> Piece:
        """Let it reach only ``hosts``. Raises :class:`webapp.errors.Invalid`."""
        return self._send("PATCH", piece_id, "", {"hosts": list(hosts)})

    def allow(self, piece_id: str, host: str) -> Piece:
        """Let it reach ``host``, too, which it was refused. Raises :class:`webapp.errors.Invalid`."""
        return self._send("POST", piece_id, "allow", {"host": host})

    def remove(self, piece_id: str) -> None:
        """Remove it; its accounts and triggers stay. Raises :class:`NotFound`, :class:`webapp.errors.Conflict`."""
        self._client.as_project("DELETE", _below(piece_id), params={"with_uses": True}, timeout=PATIENCE_S)

    def _send(self, method: str, piece_id: str, verb: str, body: dict[str, Any]) -> Piece:
        return read(Piece, self._client.as_project(method, _below(piece_id, verb), body=body, timeout=PATIENCE_S))


def _below(piece_id: str, verb: str = "") -> str:
    return "/".join(filter(None, (_PATH, quote(piece_id, safe=""), verb)))
