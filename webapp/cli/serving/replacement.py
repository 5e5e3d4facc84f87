"""Replacing the processes that answer requests, one after another, while they do: no request is refused or cut off.

A fresh process starts beside the old one and listens on the same socket. Once it is ready, the old one takes nothing
new, finishes what it has begun and ends. Where a fresh one does not become ready, the old ones go on.
"""

import logging
import os
import signal
import time
from collections.abc import Callable

from webapp.cli.serving.children import Child
from webapp.cli.serving.stopping import LEAVE

READY_S = 60.0
LEAVING_S = 75.0  # longer than the HTTP server gives what has begun
log = logging.getLogger(__name__)


class Replacement:
    """One round of it among ``children``, which ``start`` forks."""

    def __init__(self, children: list[Child], start: Callable[[Child], None]) -> None:
        self._children, self._start = children, start
        self._old = [child for child in children if child.answers and child.leaving is None]
        self._fresh: Child | None = None
        self._begun = len(self._old)

    def turn(self) -> bool:
        """Go on as far as nothing has to be waited for; whether it is over, and all that were replaced have ended."""
        if self._fresh is not None and self._fresh.is_ready():
            self._dismiss(self._old.pop(0))
            self._fresh = None
            if not self._old:
                log.info("%s processes that answer requests were replaced.", self._begun)
        if self._fresh is not None and time.monotonic() - self._fresh.born_at > READY_S:
            os.kill(self._fresh.pid, signal.SIGKILL)
        if self._fresh is None and self._old:
            self._fresh = self._old[0].fresh()
            self._children.insert(self._children.index(self._old[0]), self._fresh)
            self._start(self._fresh)
        return not (self._are_leaving() or self._old)

    def failed(self, child: Child) -> bool:
        """Whether ``child``, which has ended, is a fresh one that never became ready; then the round is over."""
        if child is not self._fresh:
            return False
        log.error("The new %s process did not become ready; the old ones go on.", child.name)
        self._fresh, self._old = None, []
        return True

    def _dismiss(self, old: Child) -> None:
        if not old.pid:  # it has died meanwhile
            self._children.remove(old)
            return
        old.leaving = time.monotonic() + LEAVING_S
        os.kill(old.pid, LEAVE)

    def _are_leaving(self) -> bool:
        leaving = [child for child in self._children if child.leaving is not None]
        for child in leaving:
            if child.leaving is not None and time.monotonic() > child.leaving:
                os.kill(child.pid, signal.SIGKILL)
        return bool(leaving)
