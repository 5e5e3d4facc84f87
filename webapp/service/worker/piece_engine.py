"""Installs integrations that owners add, and keeps this machine's disk in line with the table of integrations.

One thread installs one integration at a time, since npm and the trial of a package need a processor for a second or
two. Without integrations it only asks the store every :data:`EVERY_S`.
"""

import logging
import threading
import time

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import disk, installation, pieces, updates

EVERY_S = 5.0
AT_MOST_EVERY_S = 0.5
AUTHORS_EVERY_S = 1.0
LOOK_EVERY_S = 60.0
log = logging.getLogger(__name__)


class PieceEngine:
    """A thread of the worker."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopping, self._woken = threading.Event(), threading.Event()
        self._synced, self._sync_at, self._look_at = False, 0.0, 0.0
        self._thread = threading.Thread(target=self._run, name="integrations", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look soon for integrations to install."""
        self._woken.set()

    def stop(self, grace_s: float) -> None:
        """End, after up to ``grace_s`` seconds for an installation; the next worker repeats one that did not end."""
        self._stopping.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> float:
        """Install, synchronize and look for updates; return how many seconds to wait. Raises :class:`Unavailable`."""
        while not self._stopping.is_set() and (piece := installation.work(self._service)):
            if piece.state == "failed":
                log.info("The integration %s could not be added: %s", piece.package, piece.error)
        added = pieces.all_of(self._service.store)
        now = time.monotonic()
        if now >= self._sync_at:
            self._sync(now)
        if added and now >= self._look_at:
            self._look_at = now + LOOK_EVERY_S
            updates.check_next(self._service)
            for piece in added:
                installation.prune(self._service, piece)
        authors = updates.of_authors(self._service, added)
        updates.reinstall_changed(self._service, authors)
        return AUTHORS_EVERY_S if authors else EVERY_S

    def _sync(self, now: float) -> None:
        """Install and remove packages on this machine's disk by the table; after a problem, again in a minute."""
        findings = disk.sync(self._service, thoroughly=not self._synced)
        self._synced = True
        for finding in findings:
            log.warning("%s %s: %s", finding.piece.package, finding.version, finding.sentence)
        self._sync_at = now + LOOK_EVERY_S if findings else now

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause = EVERY_S
            try:
                pause = self.turn()
            except Unavailable as error:
                log.log(error.level, "integrations: %s", error.message)
            except Exception:
                log.exception("A turn of the integrations failed.")
            self._stopping.wait(AT_MOST_EVERY_S)
            self._woken.wait(pause - AT_MOST_EVERY_S)
            self._woken.clear()
