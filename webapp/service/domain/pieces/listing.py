"""The owner's view of integrations: what each adds, may reach and was refused, its uses, and its installation."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.errors import UpstreamFailed
from webapp.service.components.pieces import node
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.piece_hosts import RefusedHost
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import pieces, uses
from webapp.service.domain.pieces.pieces import Changes, Contents, Piece, PieceVersion
from webapp.service.domain.pieces.uses import Uses
from webapp.service.pieces import packages
from webapp.service.pieces.packages import Places
from webapp.service.pieces.registry import Registry, Release


@dataclass(frozen=True, slots=True)
class PieceView:
    """One integration. ``current`` is the version in use and ``coming`` the one being installed; None for none.

    ``added`` is what the one in use adds, ``offered`` what the other would add; ``changes`` are the differences.
    """

    piece: Piece
    current: PieceVersion | None
    coming: PieceVersion | None
    added: Contents
    offered: Contents
    changes: Changes | None
    uses: Uses
    refused_hosts: Sequence[RefusedHost]

    @property
    def shown_version(self) -> PieceVersion | None:
        """The version that a page shows: the one in use, or else the one being installed."""
        return self.current or self.coming

    @property
    def has_newer(self) -> bool:
        """Whether the registry had a later version at the last check."""
        return bool(self.piece.version) and packages.newer(self.piece.newest, self.piece.version)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A package in a search.

    ``here``: "added" if it is, "builtin" if Patchbay has a built-in app of that slug, else ""; ``slug`` is that app's,
    and ``piece_id`` the integration's if there is one.
    """

    release: Release
    title: str
    here: str
    slug: str = ""
    piece_id: str = ""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search. ``exact`` if the registry has no search, so that only exact names were tried."""

    results: Sequence[SearchResult]
    exact: bool


def listed(service: Service) -> list[PieceView]:
    """Every integration, by title."""
    return [_view(service, piece) for piece in pieces.all_of(service.store)]


def find(service: Service, piece_id: str) -> PieceView:
    """The integration with that id. Raises :class:`webapp.errors.NotFound`."""
    return _view(service, pieces.get(service.store, piece_id))


def search(service: Service, text: str) -> SearchResults:
    """Packages in the registry that ``text`` may mean. Raises :class:`UpstreamFailed` with a sentence."""
    results = registry(service).search(text)
    standing = {piece.package: piece for piece in pieces.all_of(service.store)}
    return SearchResults([_result(service, release, standing) for release in results.releases], results.exact)


def registry(service: Service) -> Registry:
    """The registry of packages. Raises :class:`UpstreamFailed` if no temporary folder can be written."""
    places = Places(service.settings.data)
    try:
        places.root.mkdir(exist_ok=True)
    except OSError as error:
        raise UpstreamFailed(f"{places.root} cannot be made; check PATCHBAY_DATA.") from error
    return Registry(places.root, service.settings.piece_registry)


def node_version() -> str:
    """The version of the Node that runs integrations on this machine; "" where there is none."""
    known = node.find()
    return known.version if known else ""


def _view(service: Service, piece: Piece) -> PieceView:
    versions = {each.version: each for each in pieces.versions(service.store, piece.id)}
    current, coming = versions.get(piece.version), versions.get(piece.wanted)
    if piece.state == "added":
        coming = None
    added, offered = pieces.contents_of(current), pieces.contents_of(coming)
    tried = coming is not None and bool(coming.contents)
    return PieceView(
        piece,
        current,
        coming,
        added,
        offered,
        pieces.changes_between(added, offered) if current and tried else None,
        uses.uses_of(service.store, map(pieces.contents_of, versions.values())),
        piece_hosts.refused_of(service.store, piece.package),
    )


def _result(service: Service, release: Release, standing: dict[str, Piece]) -> SearchResult:
    piece = standing.get(release.package)
    if piece is not None:
        return SearchResult(release, piece.title, "added", piece_id=piece.id)
    slug = packages.folder(release.package).removeprefix("piece-").replace("-", "_")
    app = service.catalog.app(slug) or service.catalog.app(slug.replace("_", ""))
    if app is not None:
        return SearchResult(release, app.name, "builtin", app.slug)
    return SearchResult(release, packages.title(release.package), "")
