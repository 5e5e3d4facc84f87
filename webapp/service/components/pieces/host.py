"""A process of Node in the runner: whom it serves, and whether it may serve again.

It works for one external user at a time and for no other afterwards. Between calls it is stopped, so that nothing of a
call goes on, and its folder is emptied.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from webapp.kit import scratch
from webapp.service.components.confinement import usage
from webapp.service.components.confinement.places import Place
from webapp.service.components.pieces import frames
from webapp.service.components.pieces.host_process import Package, Process
from webapp.service.components.wire import BLOCK, Broken

FOLDER_BYTES = 128 * 2**20
LOAD_S = 20.0
_DROPPED_BYTES = 2 * 2**20  # that a process may say before anybody asks it something
_BESIDE_MB = 128  # that Node takes for itself, its program among that


class Borrower(Protocol):
    """Whoever has a host for a call."""

    def host_ended(self, reason: str | None, code: int) -> None: ...


class Host:
    """One process. ``user`` is whom it serves, None as long as it has served nobody."""

    def __init__(self, package: Package, place: Place, process: Process, ended: Callable[["Host", int], None]) -> None:
        """``ended`` is called when ``process`` has ended, with the code of that."""
        self._process, self._ended = process, ended
        self.package, self.place, self.pid, self.near = package, place, process.pid, process.near
        self.user: str | None = None
        self.borrower: Borrower | None = None
        self.is_loaded = self.is_ending = False
        self.reason: str | None = None
        self.ends_at, self.lent_at = time.monotonic() + LOAD_S, 0.0
        self._inbox = bytearray()

    @property
    def is_spare(self) -> bool:
        """Whether it has served nobody yet, and may."""
        return self.user is None and not self.is_ending

    def lend(self, borrower: Borrower, user: str) -> bool:
        """Let it work for a call of ``user``; whether it can."""
        if not self._is_clean():
            self.end("crash")
            return False
        self.user, self.borrower, self.lent_at = user, borrower, time.monotonic()
        scratch.empty(self.place.folder)
        _signal(self.pid, signal.SIGCONT)
        return True

    def come_back(self, ends_at: float) -> None:
        """Rest until the next call, or until ``ends_at``. Somebody's that nobody knows is not used again."""
        self.borrower, self.ends_at = None, ends_at
        self.rest()
        scratch.empty(self.place.folder)
        if not self.user:
            self.end("gone")

    def rest(self) -> None:
        """Stop it where it is."""
        if not self.is_ending:
            _signal(self.pid, signal.SIGSTOP)

    def load(self) -> bool:
        """Read what it says of itself while it loads; whether there is an end to that: it is ready, or gone wrong."""
        try:
            block = self.near.recv(BLOCK)
            self._inbox += block
            message = frames.take(self._inbox)
            if not block or (message is not None and (message.kind != frames.JSON or "ready" not in message.json())):
                raise Broken("no word of being ready")
        except BlockingIOError:
            return False
        except (OSError, TypeError):
            self.end("crash")
            return True
        self.is_loaded = message is not None
        return self.is_loaded

    def look_at_use(self) -> None:
        """End it where it takes more of the machine than it may."""
        if self.is_ending:
            return
        if usage.memory(self.pid) > (self.package.memory_mb + _BESIDE_MB) * 2**20:
            self.end("memory")
        elif usage.disk(self.pid, self.place.folder) > FOLDER_BYTES:
            self.end("disk")

    def end(self, reason: str) -> None:
        """Kill it; the runner notices its death as any other."""
        self.reason = self.reason or reason
        if not self.is_ending:
            self.is_ending = True
            usage.end(self.pid)

    def finish(self, code: int) -> None:
        """The process has ended."""
        if self.reason is None and self._process.ran_out_of_memory():
            self.reason = "memory"
        self._ended(self, code)
        self._process.close()

    def _is_clean(self) -> bool:
        """Whether nothing of an earlier call is half said; what was said whole is dropped."""
        dropped = 0
        try:
            while dropped <= _DROPPED_BYTES and (block := self.near.recv(BLOCK)):
                dropped += len(block)
                self._inbox += block
                while frames.take(self._inbox) is not None:
                    pass
            return False  # it hung up, or does not stop talking
        except BlockingIOError:
            return not self._inbox
        except OSError:
            return False


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
