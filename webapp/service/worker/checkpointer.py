"""Folds the database's log before it grows large, and says when it cannot, or when the disk gets full.

The log grows with what is written, whatever the time: its size is looked at four times a second, which costs next to
nothing. A reader who holds an old state keeps it from being folded; then it is tried again each second. Room that what
was forgotten has left in the file goes back to the disk piece by piece.
"""

import logging
import threading
import time

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.store.contract import Sizes, megabytes

EVERY_S = 0.25
IN_VAIN_S = 1.0
AT_LEAST_EVERY_S = 60.0
FOLD_FROM = 16 << 20
SMALLEST = 256 << 10
SMALL_LOG, ENOUGH_FREE = 64 << 20, 512 << 20
log = logging.getLogger(__name__)


class Checkpointer:
    """One thread beside the worker's others. Nothing else in the installation folds the log."""

    def __init__(self, service: Service) -> None:
        self._store, self._folder = service.store, service.settings.data
        self._folded_at = self._shrink_at = 0.0
        self._warned_of_log = self._warned_of_disk = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def start(self) -> None:
        """Begin, where the database is a file."""
        if self._store.folder is not None:
            self._thread.start()

    def wake(self) -> None:
        """What is new is seen in a moment anyway."""

    def stop(self, grace_s: float) -> None:
        """End, within ``grace_s`` seconds."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> float:
        """Look once; how many seconds to wait then. Raises :class:`Unavailable`."""
        sizes, now = self._store.sizes(), time.monotonic()
        pause = EVERY_S
        if sizes.log >= _enough(sizes) or (sizes.log and now - self._folded_at >= AT_LEAST_EVERY_S):
            self._folded_at = now
            pause = EVERY_S if self._store.checkpoint() else IN_VAIN_S
            sizes = self._store.sizes()
        if now >= self._shrink_at:
            self._shrink_at = now + (0 if self._store.shrink() else AT_LEAST_EVERY_S)
        self._warn(sizes)
        return pause

    def _warn(self, sizes: Sizes) -> None:
        """One line when trouble begins, and one when it is over."""
        if sizes.log_is_large and not self._warned_of_log:
            self._warned_of_log = True
            log.warning(
                "The log of the database in %s has %s and cannot be folded, because a program has been reading for "
                "long: end it, such as a backup that hangs or a database shell.", self._folder, megabytes(sizes.log),
            )  # fmt: skip
        elif sizes.log <= SMALL_LOG and self._warned_of_log:
            self._warned_of_log = False
            log.info("The log of the database was folded; it has %s.", megabytes(sizes.log))
        free = megabytes(sizes.free or 0)
        if sizes.disk_is_low and not self._warned_of_disk:
            self._warned_of_disk = True
            log.warning("Only %s are free in %s; make room before nothing can be written.", free, self._folder)
        elif (sizes.free or 0) >= ENOUGH_FREE and self._warned_of_disk:
            self._warned_of_disk = False
            log.info("%s are free again in %s.", free, self._folder)

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause = IN_VAIN_S
            try:
                pause = self.turn()
            except Unavailable as error:
                log.log(error.level, "checkpoints: %s", error.message)
            except OSError as error:
                log.info("checkpoints: %s", error)
            except Exception:
                log.exception("The database's log could not be folded.")
            self._stopping.wait(pause)


def _enough(sizes: Sizes) -> int:
    """From which size on the log is folded: earlier where the disk is small."""
    return FOLD_FROM if sizes.free is None else max(min(FOLD_FROM, sizes.free // 4), SMALLEST)
