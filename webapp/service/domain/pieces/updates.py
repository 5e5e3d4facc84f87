"""Looks for newer versions in the registry, and for changes that authors make in their folders."""

import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from webapp.errors import Conflict, NotFound, PatchbayError, UpstreamFailed
from webapp.kit.clock import DAY, HOUR, SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import listing, owner_decisions, pieces
from webapp.service.domain.pieces.owner_decisions import Source
from webapp.service.domain.pieces.pieces import Piece
from webapp.service.pieces import packages
from webapp.service.pieces.packages import Wanted
from webapp.service.pieces.registry import DEADLINE_S

CHECK_S = 15.0
"""For all integrations, as somebody waits for it; the worker takes longer, one after another."""
AGAIN_AFTER_TROUBLE = HOUR
SETTLED = 500
"""Milliseconds for which an author's folder must have stood still."""
log = logging.getLogger(__name__)


def check_next(service: Service) -> bool:
    """Ask the registry for the newest version of one integration that it was not asked for within a day.

    Whether there was one.
    """
    now = service.clock()
    due = [
        piece
        for piece in pieces.all_of(service.store)
        if piece.version and piece.source == "registry" and piece.looked_at <= now - DAY
    ]
    if not due:
        return False
    try:
        _ask(service, due[0])
    except PatchbayError as error:
        log.info("Nothing newer is known of %s: %s", due[0].package, error.message)
        with service.store.write() as tx:
            pieces.change(tx, due[0], looked_at=now - DAY + AGAIN_AFTER_TROUBLE)
    return True


def check_registry(service: Service) -> None:
    """Check the registry for the newest version of each integration that came from it, within :data:`CHECK_S`.

    Those that were checked longest ago come first. Raises :class:`webapp.errors.UpstreamFailed`, with a sentence, at
    the first one that fails, and where the time is over. The registry is called slow only if it has answered for one.
    """
    ends = time.monotonic() + CHECK_S
    due = [piece for piece in pieces.all_of(service.store) if piece.version and piece.source == "registry"]
    for number, piece in enumerate(sorted(due, key=lambda each: each.looked_at)):
        left_s = ends - time.monotonic()
        if left_s <= 0:
            raise _slow(number, len(due))
        try:
            with suppress(NotFound):  # the registry has it no longer
                _ask(service, piece, left_s)
        except UpstreamFailed as error:
            if number and time.monotonic() >= ends:  # it had only the time that the others left
                raise _slow(number, len(due)) from error
            raise


def _slow(checked: int, of: int) -> UpstreamFailed:
    return UpstreamFailed(
        f"The registry is slow: {checked} of {of} integrations were checked. The others are checked within a day, or "
        "now if you check again."
    )


def _ask(service: Service, piece: Piece, deadline_s: float = DEADLINE_S) -> None:
    newest = listing.registry(service).look_up(Wanted(piece.package), deadline_s).newest
    with service.store.write() as tx:
        pieces.change(tx, piece, newest=newest, looked_at=service.clock())


def reinstall_changed(service: Service, folders: Mapping[str, Path]) -> None:
    """Bring those packages again whose author has changed something in the folder that each comes from."""
    for package, folder in folders.items():
        piece = pieces.of_package(service.store, package)
        changed_at = packages.changed_at(folder) if folder.is_dir() else 0
        if piece and _packed_at(piece) < changed_at <= service.clock() - SETTLED:
            try:
                owner_decisions.begin(service, package, source=Source("folder", folder))
            except Conflict as error:
                log.info("%s", error.message)


def _packed_at(piece: Piece) -> int:
    """The time from which a change in its folder is not in the installed version (epoch milliseconds).

    The last number of a version is the second in which it was packed.
    """
    if piece.state == "failed" and not piece.wanted:  # before it had a version
        return piece.changed_at
    return int((piece.wanted or piece.version).rpartition(".")[2]) * SECOND


def of_authors(service: Service, candidates: Iterable[Piece]) -> dict[str, Path]:
    """The authors' folders from which ``candidates`` come that are not being installed, by package."""
    still = [piece for piece in candidates if piece.version and piece.state in ("added", "failed")]
    used = [(piece, pieces.version(service.store, piece, piece.version)) for piece in still]
    return {piece.package: Path(version.origin) for piece, version in used if version and version.source == "folder"}
