"""Takes over the work of processes that died, and finishes or undoes deployments that they left incomplete.

A check is cheap, so it runs every second. Hooks of triggers may take long; they run in a thread of their own.
"""

import logging
import threading
import time

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import takeover
from webapp.service.domain.triggers import deployments

EVERY_S = 1.0
RECOVER_EVERY_S = 10.0  # also what a living process left incomplete: it could not write, or its runner died
log = logging.getLogger(__name__)


class Caretaker:
    """A thread that checks, and another while deployments are recovered."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopping = threading.Event()
        self._recover_at = 0.0
        self._recovery: threading.Thread | None = None
        self._thread = threading.Thread(target=self._run, name="caretaker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Nothing: no work here is more urgent than a second."""

    def stop(self, grace_s: float) -> None:
        """End, after up to ``grace_s`` seconds for a recovery; the next worker repeats one that did not end."""
        self._stopping.set()
        ends = time.monotonic() + grace_s
        for thread in (self._thread, self._recovery):
            if thread is not None and thread.is_alive():
                thread.join(max(ends - time.monotonic(), 0.1))

    def turn(self) -> None:
        """Check once. Raises :class:`Unavailable`."""
        now = time.monotonic()
        if takeover.take_over(self._service) or now >= self._recover_at:
            self._recover_at = now + RECOVER_EVERY_S
            self._begin_recovery()

    def _begin_recovery(self) -> None:
        if self._recovery is not None and self._recovery.is_alive():
            self._recover_at = 0.0  # as soon as it has ended
            return
        self._recovery = threading.Thread(target=self._recover, name="recovery", daemon=True)
        self._recovery.start()

    def _recover(self) -> None:
        try:
            deployments.recover(self._service)
        except Exception:
            log.exception("Interrupted changes of triggers could not be recovered.")

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.turn()
            except Unavailable as error:
                log.log(error.level, "caretaker: %s", error.message)
            except Exception:
                log.exception("A turn of the caretaker failed.")
            self._stopping.wait(EVERY_S)
