"""Keeps this machine's disk in line with the table: several machines share the table, and each has a disk.

Missing packages are downloaded by their lock file, so that they have the same files; packages that were removed on
another machine are deleted. Components are written from the description that the package gave when it was added. An
integration that cannot be downloaded does not hold up the others: its row says why until it succeeds.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webapp.errors import PatchbayError, Unavailable
from webapp.kit import scratch
from webapp.service.catalog import sources
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import installation, pieces, trial
from webapp.service.domain.pieces.pieces import Piece, PieceVersion
from webapp.service.pieces import installer, package_locks, packages, registry
from webapp.service.pieces.package_locks import MANIFEST
from webapp.service.pieces.packages import MODULES, Places
from webapp.store.contract import Reader

UNREADABLE_LOCK = f"{package_locks.UNREADABLE} Add it again."
UNREADABLE = "What is kept of it cannot be read. Add it again; the log of the service says more."
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """A version that is incomplete on this machine:

    ``sentence`` says what is wrong, or why it could not be downloaded.
    """

    piece: Piece
    version: str
    sentence: str


def check(reader: Reader, data: Path) -> list[Finding]:
    """The findings about integrations in the folder ``data``; reads all of their files."""
    return [
        Finding(piece, version.version, trouble)
        for piece, version in _needed(reader)
        if (trouble := _trouble(data, piece, version, thoroughly=True))
    ]


def sync(service: Service, *, thoroughly: bool = False, tarballs: Path | None = None) -> list[Finding]:
    """Download missing packages, with ``thoroughly`` also changed ones, remove unneeded ones, and return the
    findings.

    ``tarballs`` is a folder of tarballs, for a machine without a network.
    """
    removed = _sweep(service)
    missing = [
        (piece, version)
        for piece, version in _needed(service.store)
        if _trouble(service.settings.data, piece, version, thoroughly=thoroughly)
    ]
    tried = [Finding(piece, version.version, _brought(service, piece, version, tarballs)) for piece, version in missing]
    findings = [each for each in tried if each.sentence]
    _record_findings(service, tried)
    if _unlist(service) or removed or len(findings) < len(tried):
        catalog_file.update(service)
        service.catalog.refresh()
    return findings


def _needed(reader: Reader) -> list[tuple[Piece, PieceVersion]]:
    by_id = {piece.id: piece for piece in pieces.all_of(reader) if piece.version}
    versions = [version for version in pieces.versions(reader) if version.piece_id in by_id] if by_id else []
    return [
        (piece, version)
        for version in versions
        if (piece := by_id[version.piece_id]).state in ("added", "failed") or version.version == piece.version
    ]


def _trouble(data: Path, piece: Piece, version: PieceVersion, *, thoroughly: bool) -> str:
    place = Places(data).package(piece.folder, version.version)
    if not (place / MODULES / piece.package / MANIFEST).is_file():
        return "Its package is not on this machine."
    if thoroughly and packages.digest(place / MODULES) != version.digest:
        return "Its package was changed since it was added."
    return "" if trial.is_written(data, piece, version.version) else "Its components are not written here."


def _brought(service: Service, piece: Piece, version: PieceVersion, tarballs: Path | None) -> str:
    """Bring it; "", or why that could not be. Raises :class:`Unavailable`."""
    try:
        installation.ensure(service, piece, version, tarballs)
        trial.write(service, piece, version)
    except Unavailable:
        raise
    except PatchbayError as error:
        return UNREADABLE_LOCK if error.message == package_locks.UNREADABLE else error.message
    except OSError as error:
        return f"It could not be written: {error}."
    except Exception:
        log.exception("The integration %s %s could not be brought.", piece.package, version.version)
        return UNREADABLE
    log.info("The integration %s %s was brought to this machine.", piece.package, version.version)
    return ""


def _record_findings(service: Service, tried: Sequence[Finding]) -> None:
    """Store the finding of each integration in its row, and clear those that are resolved."""
    sentences = dict[str, str]()
    for each in tried:
        sentences[each.piece.id] = sentences.get(each.piece.id) or each.sentence
    for piece in {each.piece.id: each.piece for each in tried}.values():
        if piece.state == "added" and piece.error != sentences[piece.id]:
            with service.store.write() as tx:
                pieces.change(tx, piece, error=sentences[piece.id])


def _unlist(service: Service) -> bool:
    """Write the list of hidden integrations; return whether it changed."""
    hidden = {piece.id for piece in pieces.all_of(service.store) if piece.hidden and piece.version}
    every = (
        [pieces.contents_of(each) for each in pieces.versions(service.store) if each.piece_id in hidden]
        if hidden
        else []
    )
    names = [part.key for each in every for part in (*each.actions, *each.triggers)]
    apps = [app for each in every for app in each.apps]
    return sources.write_unlisted(Places(service.settings.data).root / "apps", (*apps, *names))


def _sweep(service: Service) -> int:
    """Remove from this machine what the table does not name any more, and what killed processes left half-made; how
    many versions went."""
    places = Places(service.settings.data)
    if places.root.is_dir():
        for prefix in (installer.SCRATCH, registry.SCRATCH):
            scratch.sweep(places.root, prefix)
    kept = places.root / "packages"
    folders = sorted(path for path in kept.glob("*/*") if path.is_dir())
    if not folders:
        return 0
    busy = {piece.folder for piece in pieces.all_of(service.store) if piece.state in ("adding", "ready", "writing")}
    folder_of = {piece.id: piece.folder for piece in pieces.all_of(service.store)}
    known = {
        (folder_of[each.piece_id], each.version)
        for each in pieces.versions(service.store)
        if each.piece_id in folder_of
    }
    old = [path for path in folders if path.parent.name not in busy and (path.parent.name, path.name) not in known]
    for path in old:
        if package := _package(path):
            trial.remove(service.settings.data, package, path.name)
        packages.remove(path)
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return len(old)


def _package(place: Path) -> str:
    """The name of the package installed at ``place``; "" if it is unknown."""
    try:
        return str(next(iter(json.loads((place / MANIFEST).read_text("utf-8"))["dependencies"]), ""))
    except (OSError, ValueError, KeyError, TypeError):
        return ""
