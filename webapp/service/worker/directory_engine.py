"""Brings the public directory when an owner asked for it, in a thread of its own, as that takes half a minute.

The work is done by a program, which ends with this process; here is only its progress.
"""

import logging
import threading

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import directory_download

EVERY_S = 5.0
AT_MOST_EVERY_S = 0.5
log = logging.getLogger(__name__)


class DirectoryEngine:
    """A thread of the worker."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stopping, self._woken = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="directory", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look soon whether the directory should be brought."""
        self._woken.set()

    def stop(self, grace_s: float) -> None:
        """End what is being brought, within ``grace_s`` seconds; the next worker begins it anew."""
        self._stopping.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> None:
        """Bring what waits. Raises :class:`Unavailable`."""
        ended = directory_download.work(self._service, self._stopping.is_set)
        if ended is not None and ended.state == "failed":
            log.info("The public directory could not be brought: %s", ended.error)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.turn()
            except Unavailable as error:
                log.log(error.level, "directory: %s", error.message)
            except Exception:
                log.exception("The public directory could not be brought.")
            self._stopping.wait(AT_MOST_EVERY_S)
            self._woken.wait(EVERY_S - AT_MOST_EVERY_S)
            self._woken.clear()
