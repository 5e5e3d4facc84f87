"""Bringing packages to this machine's disk: what brings them, and what was brought before on another machine."""

from collections.abc import Mapping
from pathlib import Path

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import rows, uses
from webapp.service.domain.instance.pieces.rows import Piece, PieceVersion
from webapp.service.pieces import fetch, packages
from webapp.service.pieces.fetch import Bringer, Brought
from webapp.service.pieces.packages import MODULES, Places


def bringer(service: Service, piece: Piece | None = None) -> Bringer:
    """What brings packages, until somebody asks to stop, or has taken ``piece`` up meanwhile."""

    def stopped() -> bool:
        try:
            return piece is not None and not rows.is_current(service.store, piece)
        except Unavailable:
            return False

    settings = service.settings
    in_use = _in_use(service, piece) if piece else {}
    return Bringer(Places(settings.data), settings.piece_registry, settings.piece_mb, stopped, in_use)


def ensure(service: Service, piece: Piece, version: PieceVersion, tarballs: Path | None = None) -> None:
    """Bring what was brought before, unless the same files stand on this machine; ``tarballs`` is a folder of them.

    Raises :class:`webapp.errors.Invalid`.
    """
    place = Places(service.settings.data).package(piece.folder, version.version)
    if packages.digest(place / MODULES) == version.digest:
        return
    known = Brought(
        piece.package, version.version, version.lock_file, version.digest, version.size, version.licence,
        version.licence_text, version.author, "",
    )  # fmt: skip
    bringer(service).again(known, piece.folder, _contents(service, version, tarballs))


def _in_use(service: Service, piece: Piece) -> dict[str, str]:
    """The digests of the versions that calls go on with, whatever is brought meanwhile."""
    numbers = {piece.version, *uses.pinned(service.store, piece)}
    return {each.version: each.digest for each in rows.versions(service.store, piece.id) if each.version in numbers}


def _contents(service: Service, version: PieceVersion, tarballs: Path | None) -> Mapping[bytes, bytes] | None:
    """The tarballs on this machine from which it can be unpacked; None for the registry."""
    most_mb = service.settings.piece_mb
    origin = Path(version.origin)
    if tarballs is not None:
        return fetch.tarballs_in(tarballs, most_mb)
    if version.source == "offline" and origin.is_dir():
        return fetch.tarballs_in(origin, most_mb)
    if version.source == "tarball" and origin.is_file():
        return fetch.tarballs_in(origin.parent, most_mb)
    return None
