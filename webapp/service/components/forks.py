"""Starts the processes of calls: the runner asks a fork server, which never receives a call itself, to fork them.

So no process starts with data of another call. One spare process is kept ready for the next call.
"""

import json
import os
import signal
import socket
import tempfile
import time
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Protocol

from webapp.service.components import child, process_tree
from webapp.service.components.child import Surroundings
from webapp.service.components.child_pipes import Pipes
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Place, Places
from webapp.service.components.warmup import DRIVERS, preload
from webapp.service.components.wire import frame

_ORDER_BYTES, _ANSWER_BYTES = 64 * 1024, 32
_NOBODY = 0
_ANSWER_S = 10.0
_ADOPTION_S = 0.0002  # between two checks whether the runner has become the parent
REQUEST_BYTES = 64 * 1024  # that a socket takes at once; a larger request is passed as an anonymous file
IDLE_S = 60.0


class ForkServer:
    """The client of the fork server, in the runner, which adopts orphaned processes. Call :meth:`start` first."""

    def __init__(self, confinement: Confinement) -> None:
        self._confinement = confinement
        self._line: socket.socket | None = None
        self._pid = _NOBODY

    def start(self, listener: socket.socket | None = None) -> int:
        """Start the fork server before this process has received any call, and return its pid.

        The server closes its copy of ``listener``, so that nobody can connect once this process has closed its own.
        """
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        runner = os.getpid()
        pid = os.fork()
        if pid == 0:
            near.close()
            if listener is not None:
                listener.close()
            _serve(far, runner, self._confinement)
        far.close()
        near.settimeout(_ANSWER_S)
        self._line, self._pid = near, pid
        return pid

    @property
    def is_running(self) -> bool:
        """Whether the fork server has been started and not closed."""
        return self._line is not None

    def fork(self, place: Place, pipes: Pipes, *, relay: bool) -> int:
        """Fork a process at ``place`` with its ends of ``pipes``, and return its pid. Raises ``OSError``."""
        if self._line is None:
            raise OSError("the fork server is not running")
        order = json.dumps({"number": place.number, "folder": str(place.folder), "relay": relay}).encode()
        socket.send_fds(self._line, [order], [pipes.messages, pipes.prints, pipes.requests])
        try:
            pid = int(self._line.recv(_ANSWER_BYTES) or _NOBODY)
        except TimeoutError:
            os.kill(self._pid, signal.SIGKILL)  # its late answer could be taken for that to another request
            raise
        if pid == _NOBODY:
            raise OSError("the fork server could not fork")
        return pid

    def close(self) -> None:
        """Let the fork server exit; the processes that it forked continue."""
        if self._line is not None:
            self._line.close()
            self._line = None


def _serve(line: socket.socket, runner: int, confinement: Confinement) -> NoReturn:
    """Fork on request until the runner closes the connection."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        process_tree.die_with_parent(runner)
        while True:
            order, descriptors, _, _ = socket.recv_fds(line, _ORDER_BYTES, 3)
            if not order:
                break
            _fork(line, json.loads(order), Pipes(*descriptors), runner, confinement)
            for descriptor in descriptors:
                os.close(descriptor)
        code = 0
    finally:
        os._exit(code)


def _fork(line: socket.socket, order: dict[str, object], pipes: Pipes, runner: int, confinement: Confinement) -> None:
    """Fork the process of a call through an intermediate one that exits, so that the runner becomes the parent."""
    relay = bool(order["relay"])
    if relay:
        preload(DRIVERS)
    try:
        between = os.fork()
    except OSError:  # perhaps there are too many processes
        line.send(str(_NOBODY).encode())
        return
    if between:
        os.waitpid(between, 0)
        return
    own = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        pid = line.send(str(_NOBODY).encode())
    if pid:
        os._exit(0)
    while os.getppid() == own:
        time.sleep(_ADOPTION_S)
    line.send(str(os.getpid()).encode())
    place = Place(int(str(order["number"])), Path(str(order["folder"])))
    child.run(pipes, Surroundings(place, runner, confinement, relay))


class ProcessOwner(Protocol):
    """The owner of a process, whose ``finish`` is called with the exit code when the process has ended."""

    def finish(self, code: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Child:
    """The process of one call: its pid and place, and the runner's ends of its pipes."""

    pid: int
    place: Place
    messages: int
    prints: int


class Forks:
    """Starts the processes of calls of one runner. ``by_pid`` has the owner of each process."""

    def __init__(self, places: Places, by_pid: MutableMapping[int, ProcessOwner]) -> None:
        self._places, self._by_pid = places, by_pid
        self._server = ForkServer(places.confinement)
        self._spare: _SpareProcess | None = None

    def start(self, listener: socket.socket | None = None) -> None:
        """Start the fork server, before any call arrives on ``listener``."""
        self._by_pid[self._server.start(listener)] = _Server(self._server)

    def begin(self, request: bytes, broker: int | None, *, relay: bool) -> Child:
        """Start a process for ``request`` with the socket ``broker``. The caller registers its owner.

        Raises ``OSError``.
        """
        if not relay and self._spare is not None:
            spare, self._spare = self._spare, None
            if spare.take(request, broker):
                return spare.child
            spare.end()
        fresh = self._fork(relay=relay)
        if not fresh.take(request, broker):
            fresh.end()  # the runner notices its end like that of any process
        return fresh.child

    def keep_spare(self) -> None:
        """Start a spare process for the next call if there is none and one can be forked."""
        with suppress(OSError):
            if self._spare is None:
                self._spare = self._fork(relay=False)
                self._by_pid[self._spare.child.pid] = self._spare

    def maintain(self) -> None:
        """End the spare process if it has been idle for too long."""
        if self._spare is not None and (self._spare.is_gone or self._spare.ends_at <= time.monotonic()):
            self._end_spare()

    def next_at(self) -> float | None:
        """When :meth:`maintain` has to be called next, in monotonic seconds; None for never."""
        return self._spare.ends_at if self._spare is not None else None

    def close(self) -> None:
        """End the spare process and the fork server."""
        self._end_spare()
        self._server.close()

    def _end_spare(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.end()

    def _fork(self, *, relay: bool) -> "_SpareProcess":
        place = self._places.take()
        messages, child_messages = os.pipe()
        prints, child_prints = os.pipe()
        near, far = socket.socketpair()
        waiting = _SpareProcess(Child(0, place, messages, prints), near, self._places)
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
    """Notices the end of the fork server. If it was not closed, the runner exits and is restarted, because it has
    received calls by now and may not become a fork server itself."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server

    def finish(self, _: int) -> None:
        if self._server.is_running:
            self._server.close()
            os.kill(os.getpid(), signal.SIGTERM)


class _SpareProcess:
    """A process that waits for its call at the other end of ``line``."""

    def __init__(self, process: Child, line: socket.socket, places: Places) -> None:
        self.child, self._line, self._places = process, line, places
        self.ends_at, self.is_gone = time.monotonic() + IDLE_S, False
        line.setblocking(False)

    def take(self, request: bytes, broker: int | None) -> bool:
        """Send it its call; False if it can no longer take one. Afterwards it is no longer a spare."""
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
        """Kill it if it still waits."""
        if not self.is_gone:
            process_tree.kill_group(self.child.pid)
            self._line.close()

    def finish(self, _: int) -> None:
        """Release its place: it has ended without a call."""
        self.is_gone = True
        self._line.close()
        for descriptor in (self.child.messages, self.child.prints):
            os.close(descriptor)
        self._places.leave(self.child.place)
