"""Checkpoints the write-ahead log of SQLite before it grows large, and warns if it cannot or if the disk gets full.

The size of the log is checked four times a second. A reader of an old state prevents a checkpoint, which is then tried
again every second. Free pages of the database file are given back to the disk in small steps.
"""

import logging
import threading
import time

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.store.contract import Sizes, mebibytes

EVERY_S = 0.25
IN_VAIN_S = 1.0
AT_LEAST_EVERY_S = 60.0
FOLD_FROM = 8 << 20
SMALLEST = 256 << 10
SMALL_LOG, ENOUGH_FREE = 64 << 20, 512 << 20
log = logging.getLogger(__name__)


class Checkpointer:
    """A thread of the worker. Nothing else in the installation checkpoints the log."""

    def __init__(self, service: Service) -> None:
        self._store, self._folder = service.store, service.settings.data
        self._folded_at = self._shrink_at = 0.0
        self._warned_of_log = self._warned_of_disk = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def start(self) -> None:
        """Begin, if the database is a file."""
        if self._store.folder is not None:
            self._thread.start()

    def wake(self) -> None:
        """Nothing: the size is checked all the time."""

    def stop(self, grace_s: float) -> None:
        """End, within ``grace_s`` seconds."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> float:
        """Check once, and return how many seconds to wait. Raises :class:`Unavailable`."""
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
        """Log one line when a problem begins, and one when it ends."""
        if sizes.log_is_large and not self._warned_of_log:
            self._warned_of_log = True
            log.warning(
                "The log of the database in %s has %s and cannot be folded, because a program has been reading for "
                "long: end it, such as a backup that hangs or a database shell.", self._folder, mebibytes(sizes.log),
            )  # fmt: skip
        elif sizes.log <= SMALL_LOG and self._warned_of_log:
            self._warned_of_log = False
            log.info("The log of the database was folded; it has %s.", mebibytes(sizes.log))
        free = mebibytes(sizes.free or 0)
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
    """The size in bytes from which the log is checkpointed: smaller on a small disk."""
    return FOLD_FROM if sizes.free is None else max(min(FOLD_FROM, sizes.free // 4), SMALLEST)
