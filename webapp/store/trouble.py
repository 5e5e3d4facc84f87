"""Trouble with the disk that lasts: one line when it begins, one when it is over, and in between a state to ask for."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from webapp.errors import Damaged, Unwritable

log = logging.getLogger(__name__)


class Trouble:
    """Whether what stands in ``folder`` can be written, as far as this process knows from writing.

    On a full disk something small may still succeed, so it is over only where ``has_room`` says so, too.
    """

    def __init__(self, folder: Path, has_room: Callable[[], bool]) -> None:
        self._folder, self._has_room = folder, has_room
        self._since = 0.0
        self.error: Unwritable | Damaged | None = None

    def begin(self, error: Unwritable | Damaged) -> None:
        """Writing failed with ``error``."""
        if self.error is None:
            self._since = time.monotonic()
            cause = error.cause if isinstance(error, Unwritable) else error.message
            log.error(
                "Nothing can be written in %s: %s. What was accepted is kept; the work goes on by itself afterwards.",
                self._folder,
                cause.rstrip("."),
            )
        self.error = error

    def look(self) -> None:
        """Writing succeeded: is it over?"""
        if self.error is not None and self._has_room():
            self.error = None
            log.warning("%s can be written again, after %.0f s.", self._folder, time.monotonic() - self._since)
