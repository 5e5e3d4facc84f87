"""The installation of an integration by the worker: find its package, download it, try it, and write it to the
catalog.

The worker claims a row and stores each step with its turn. A process that takes over from a dead one starts again, so
each step may be done twice. Without a confirmation, nothing is in the catalog.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from webapp.errors import Conflict, Invalid, PatchbayError, Unavailable
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import listing, owner_decisions, pieces, trial, uses
from webapp.service.domain.pieces.pieces import Piece, PieceVersion
from webapp.service.pieces import installer, packages
from webapp.service.pieces.installer import InstalledPackage, Installer, Stopped
from webapp.service.pieces.packages import MODULES, Places, Wanted

BUG = "It could not be added, for a reason that stands in the log of the service."
log = logging.getLogger(__name__)


def work(service: Service) -> Piece | None:
    """Do what is due on the next integration; return it, or None if nothing is due."""
    piece = pieces.claim(service)
    if piece is None:
        return None
    do(service, piece)
    return pieces.held(service.store, piece) or piece


def do(service: Service, piece: Piece) -> None:
    """Do what is due on ``piece``, which this process has claimed. Errors are stored in its row.

    Raises :class:`Unavailable`; the row can be claimed again then.
    """
    try:
        _write(service, piece) if piece.state == "writing" else _bring(service, piece)
    except Stopped:
        _undo(service, piece)
    except Unavailable:
        _release(service, piece)
        raise
    except PatchbayError as error:
        _failed(service, piece, error.message)
    except Exception:
        log.exception("The integration %s could not be added.", piece.package)
        _failed(service, piece, BUG)


def prune(service: Service, piece: Piece) -> list[str]:
    """Remove the versions that are no longer needed, from the table and this machine; return them."""
    kept = {piece.version, piece.wanted, *uses.pinned(service.store, piece)}
    old = [each.version for each in pieces.versions(service.store, piece.id) if each.version not in kept]
    for version in old:
        with service.store.write() as tx:
            pieces.forget_version(tx, piece, version)
        _remove_version(service, piece, version)
    return old


def _remove_version(service: Service, piece: Piece, version: str) -> None:
    """Remove a version from this machine."""
    data = service.settings.data
    trial.remove(data, piece.package, version)
    packages.remove(Places(data).package(piece.folder, version))


def _bring(service: Service, piece: Piece) -> None:
    release = None
    if piece.source == "registry":
        release = listing.registry(service).look_up(Wanted(piece.package, piece.wanted))
    release_fields = (
        {"wanted": release.version, "newest": release.newest, "looked_at": service.clock()} if release else {}
    )
    piece = _step(service, piece, 2, **release_fields)
    brought = _brought(service, piece)
    if release:
        licence, author = brought.licence or release.licence, brought.author or release.author
        brought = replace(brought, licence=licence, author=author)
    piece = _step(service, piece, 3, wanted=brought.version)
    tried = trial.try_it(service, piece, brought, release.published_at if release else None)
    summary = tried.description or brought.description or piece.summary
    used = pieces.version(service.store, piece, piece.version)
    reload = used is not None and (used.source, used.origin) == ("folder", piece.origin)  # which was confirmed before
    with service.store.write() as tx:
        if not pieces.is_current(tx, piece):
            raise Stopped
        pieces.keep_version(tx, tried.version, tried.described)
        state, step = ("writing", 4) if reload else ("ready", 3)
        changes = {"title": tried.title or piece.title, "summary": summary, "state": state, "step": step, "holder": 0}
        pieces.change(tx, piece, changed_at=service.clock(), **changes)


def _brought(service: Service, piece: Piece) -> InstalledPackage:
    brings, origin = new_installer(service, piece), Path(piece.origin)
    if piece.source == "tarball":
        brought = brings.from_tarball(origin, piece.folder)
    elif piece.source == "offline":
        brought = brings.from_offline(origin, piece.package, piece.folder)
    elif piece.source == "folder":
        major, minor, _ = f"{installer.read_manifest(origin).get('version') or '0.0.0'}.0.0".split(".", 2)
        brought = brings.from_folder(origin, piece.folder, f"{major}.{minor}.{service.clock() // 1000}")
    else:
        brought = brings.from_registry(Wanted(piece.package, piece.wanted), piece.folder)
    if brought.package != piece.package:
        raise Conflict(f"It holds {brought.package}, and no longer {piece.package}.")
    return brought


def _write(service: Service, piece: Piece) -> None:
    version = pieces.version(service.store, piece, piece.wanted)
    if version is None:
        raise Invalid("What was brought is gone; add it again.")
    ensure(service, piece, version)  # another machine may have brought it
    trial.write(service, piece, version)
    catalog_file.update(service)  # before anybody reads that it is added
    service.catalog.refresh()
    with service.store.write() as tx:
        if not pieces.change(
            tx, piece, state="added", version=piece.wanted, wanted="", step=0, error="", stopping=False, holder=0,
            changed_at=service.clock(),
        ):  # fmt: skip
            raise Stopped
    if prune(service, pieces.get(service.store, piece.id)):
        catalog_file.update(service)
        service.catalog.refresh()
    service.wake()


def _step(service: Service, piece: Piece, step: int, **changes: object) -> Piece:
    """Store that a step begins.

    Raises :class:`Stopped` if an owner stopped it, or another process has claimed the row.
    """
    with service.store.write() as tx:
        if not pieces.is_current(tx, piece):
            raise Stopped
        pieces.change(tx, piece, step=step, changed_at=service.clock(), **changes)
        return pieces.get(tx, piece.id)


def _undo(service: Service, piece: Piece) -> None:
    """Undo an installation that was stopped, unless another process has claimed the row since."""
    with service.store.write() as tx:
        now = pieces.held(tx, piece)
        if now is not None:
            owner_decisions.undo(tx, now, service.clock())
    if now is not None:
        owner_decisions.clear_unconfirmed(service, now)


def _release(service: Service, piece: Piece) -> None:
    try:
        with service.store.write() as tx:
            pieces.change(tx, piece, holder=0)
    except Unavailable as error:
        log.info("%s is taken up later: %s", piece.package, error.message)


def _failed(service: Service, piece: Piece, sentence: str) -> None:
    with service.store.write() as tx:
        pieces.change(tx, piece, state="failed", error=sentence, holder=0, changed_at=service.clock())


def new_installer(service: Service, piece: Piece | None = None) -> Installer:
    """The downloader, which stops when an owner stops ``piece`` or another process claims it."""

    def stopped() -> bool:
        try:
            return piece is not None and not pieces.is_current(service.store, piece)
        except Unavailable:
            return False

    settings = service.settings
    in_use = _in_use(service, piece) if piece else {}
    return Installer(Places(settings.data), settings.piece_registry, settings.piece_mb, stopped, in_use)


def ensure(service: Service, piece: Piece, version: PieceVersion, tarballs: Path | None = None) -> None:
    """Download a version again, unless the same files are on this machine; ``tarballs`` is a folder of them.

    Raises :class:`webapp.errors.Invalid`.
    """
    place = Places(service.settings.data).package(piece.folder, version.version)
    if packages.digest(place / MODULES) == version.digest:
        return
    known = InstalledPackage(
        piece.package, version.version, version.lock_file, version.digest, version.size, version.licence,
        version.licence_text, version.author, "",
    )  # fmt: skip
    new_installer(service).again(known, piece.folder, _contents(service, version, tarballs))


def _in_use(service: Service, piece: Piece) -> dict[str, str]:
    """The digests of the versions that calls use meanwhile."""
    numbers = {piece.version, *uses.pinned(service.store, piece)}
    return {each.version: each.digest for each in pieces.versions(service.store, piece.id) if each.version in numbers}


def _contents(service: Service, version: PieceVersion, tarballs: Path | None) -> Mapping[bytes, bytes] | None:
    """The tarballs on this machine from which it can be unpacked; None for the registry."""
    most_mb = service.settings.piece_mb
    origin = Path(version.origin)
    if tarballs is not None:
        return installer.tarballs_in(tarballs, most_mb)
    if version.source == "offline" and origin.is_dir():
        return installer.tarballs_in(origin, most_mb)
    if version.source == "tarball" and origin.is_file():
        return installer.tarballs_in(origin.parent, most_mb)
    return None
