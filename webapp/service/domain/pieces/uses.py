"""The uses of integrations, and the integration that a part of the catalog comes from.

Uses are the accounts of its apps and its deployed triggers, each of which is pinned to a version. The origin of an app
or a component is the package and version that added it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.errors import LoadError
from webapp.service.components.pieces import form
from webapp.service.domain.pieces import pieces
from webapp.service.domain.pieces.pieces import Contents, Piece
from webapp.store.contract import Reader, among


@dataclass(frozen=True, slots=True)
class Uses:
    """The number of accounts of its own apps, and of its deployed triggers, by the version that they are pinned to."""

    accounts: int
    by_version: Counter[str]

    @property
    def triggers(self) -> int:
        """The number of deployed triggers of all versions."""
        return self.by_version.total()

    @property
    def sentence(self) -> str:
        """The uses in words, such as "4 accounts, 2 triggers"; "" if there are none."""
        counts = ((self.accounts, "account"), (self.triggers, "trigger"))
        return ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n)


def uses_of(reader: Reader, kept: Iterable[Contents]) -> Uses:
    """The uses of an integration that has added this, in each of its versions."""
    versions = list(kept)
    apps, params = among(sorted({app for each in versions for app in each.apps}))
    accounts = reader.one(f"SELECT COUNT(*) AS n FROM accounts WHERE app IN ({apps})", params) or {}  # noqa: S608
    return Uses(int(accounts.get("n", 0)), _deployed(reader, versions))


def pinned(reader: Reader, piece: Piece) -> set[str]:
    """The versions of ``piece`` on which one of its triggers is deployed."""
    return set(_deployed(reader, [pieces.contents_of(version) for version in pieces.versions(reader, piece.id)]))


def _deployed(reader: Reader, versions: Sequence[Contents]) -> Counter[str]:
    """The number of deployed triggers of each version."""
    keys, params = among(sorted({trigger.key for each in versions for trigger in each.triggers}))
    counts = reader.tuples(
        "SELECT component_version, COUNT(*) FROM deployed_triggers "  # noqa: S608
        f"WHERE component_key IN ({keys}) GROUP BY component_version",
        params,
    )
    return Counter({version: int(n) for version, n in counts})


@dataclass(frozen=True, slots=True)
class Origin:
    """An npm package, its version in use, its licence, and the source of that version."""

    package: str
    version: str
    licence: str
    author: str
    source: pieces.Origin

    def to_json(self) -> dict[str, Any]:
        """As the API shows it."""
        return asdict(self)


def of_app(reader: Reader, slug: str) -> Sequence[Origin]:
    """The integrations that added the app ``slug``, or parts of it."""
    brought = [(piece.package, pieces.version(reader, piece, piece.version)) for piece in pieces.all_of(reader)]
    return [
        Origin(package, version.version, version.licence, version.author, version.source)
        for package, version in brought
        if version is not None and slug in (pieces.contents_of(version).app, *pieces.contents_of(version).apps)
    ]


def of_component(reader: Reader, component: ComponentInfo) -> Origin | None:
    """The integration that ``component`` is of, in its version; None for one that is not from npm."""
    if not component.of_piece:
        return None
    try:
        part = form.read(component.path).piece
    except LoadError:
        return None
    piece = pieces.of_package(reader, part.package)
    version = pieces.version(reader, piece, part.version) if piece else None
    if version is None:
        return Origin(part.package, part.version, "", "", "registry")
    return Origin(part.package, part.version, version.licence, version.author, version.source)
