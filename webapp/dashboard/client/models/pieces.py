"""Integrations from npm packages, as the Connect API tells them (contract "Integrations")."""

from typing import Literal

from pydantic import Field

from webapp.dashboard.client.models.lenient import Lenient, NonEmpty

Source = Literal["registry", "tarball", "offline", "folder"]
State = Literal["adding", "ready", "writing", "added", "failed"]


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
