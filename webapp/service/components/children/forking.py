"""The processes of calls, from the runner's side, and one of them that waits having done what it can without its call.

Such a spare has left the runner's user, files and memory behind when a call comes, which then begins at once. It takes
a few megabytes, so it is there only for a while after a call. All come of the fork server: none knows anything of
another's call.
"""

import os
import signal
import socket
import tempfile
import time
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from webapp.service.components import limits
from webapp.service.components.children.fork_server import ForkServer
from webapp.service.components.children.settling import Pipes
from webapp.service.components.confinement.places import Place, Places
from webapp.service.components.wire import frame

REQUEST_BYTES = 64 * 1024
"""What a socket takes at once; a larger request goes by a file without a name."""
IDLE_S = 60.0


class Finishing(Protocol):
    """What has a process, and is told when that has ended."""

    def finish(self, code: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Child:
    """The process of one call: where it lives, and our ends of its pipes."""

    pid: int
    place: Place
    messages: int
    prints: int


class Forks:
    """The processes of calls of one runner. ``by_pid`` is who is told of the end of each."""

    def __init__(self, places: Places, by_pid: MutableMapping[int, Finishing]) -> None:
        self._places, self._by_pid = places, by_pid
        self._server = ForkServer(places.confinement)
        self._spare: _Waiting | None = None

    def start(self, listener: socket.socket | None = None) -> None:
        """Begin the process that forks, before there is any call by ``listener``."""
        self._by_pid[self._server.start(listener)] = _Server(self._server)

    def begin(self, request: bytes, broker: int | None, *, relay: bool) -> Child:
        """A process that works on ``request`` and asks by ``broker``; who is told of its end is the caller's matter.

        Raises ``OSError``.
        """
        if not relay and self._spare is not None:
            spare, self._spare = self._spare, None
            if spare.take(request, broker):
                return spare.child
            spare.end()
        fresh = self._fork(relay=relay)
        if not fresh.take(request, broker):
            fresh.end()  # which is noticed as any end
        return fresh.child

    def keep_spare(self) -> None:
        """Have a process wait for the next call, where one can be had."""
        with suppress(OSError):
            if self._spare is None:
                self._spare = self._fork(relay=False)
                self._by_pid[self._spare.child.pid] = self._spare

    def tend(self) -> None:
        """End the process that has waited for long enough."""
        if self._spare is not None and (self._spare.is_gone or self._spare.ends_at <= time.monotonic()):
            self._end_spare()

    def next_at(self) -> float | None:
        """When :meth:`tend` has something to do next, in monotonic seconds."""
        return self._spare.ends_at if self._spare is not None else None

    def close(self) -> None:
        """End the process that waits, and the one that forks."""
        self._end_spare()
        self._server.close()

    def _end_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.end()

    def _fork(self, *, relay: bool) -> "_Waiting":
        place = self._places.take()
        messages, child_messages = os.pipe()
        prints, child_prints = os.pipe()
        near, far = socket.socketpair()
        waiting = _Waiting(Child(0, place, messages, prints), near, self._places)
        try:
            pipes = Pipes(child_messages, child_prints, far.fileno())
            pid = self._server.fork(waiting.child.place, pipes, relay=relay)
        except BaseException:
            waiting.finish(0)
            raise
        finally:
            far.close()
            os.close(child_messages)
            os.close(child_prints)
        waiting.child = replace(waiting.child, pid=pid)
        return waiting


class _Server:
    """Notices the end of the process that forks. Unless we asked for that, the runner ends, too, and begins anew: it
    has met calls by now."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server

    def finish(self, _: int) -> None:
        if self._server.is_begun:
            self._server.close()
            os.kill(os.getpid(), signal.SIGTERM)


class _Waiting:
    """A process that waits for its call at the other end of ``line``."""

    def __init__(self, process: Child, line: socket.socket, places: Places) -> None:
        self.child, self._line, self._places = process, line, places
        self.ends_at, self.is_gone = time.monotonic() + IDLE_S, False
        line.setblocking(False)

    def take(self, request: bytes, broker: int | None) -> bool:
        """Give it its call; whether it can still work on one. It waits no more."""
        descriptors = [] if broker is None else [broker]
        try:
            if len(request) <= REQUEST_BYTES:
                return self._send(frame(request), descriptors)
            with tempfile.TemporaryFile(dir=self.child.place.folder.parent) as file:
                file.write(request)
                file.seek(0)
                return self._send(frame(b""), [file.fileno(), *descriptors])
        except OSError:  # it has ended, or the disk is full
            return False

    def _send(self, payload: bytes, descriptors: list[int]) -> bool:
        sent = socket.send_fds(self._line, [payload], descriptors)
        if self.is_gone or sent < len(payload):
            return False
        self._line.close()
        return True

    def end(self) -> None:
        """Let it end."""
        if not self.is_gone:
            limits.kill_group(self.child.pid)
            self._line.close()

    def finish(self, _: int) -> None:
        """It has ended without a call."""
        self.is_gone = True
        self._line.close()
        for descriptor in (self.child.messages, self.child.prints):
            os.close(descriptor)
        self._places.leave(self.child.place)
