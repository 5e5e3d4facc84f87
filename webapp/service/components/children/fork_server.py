"""Forks the processes of calls from a process that never meets a call, so that none begins with what is another's.

A process that is forked has all the memory of the one that it comes of. The runner's holds what others ask and are
answered, so it has this one fork for it: begun before the first call, told nothing but where a process is to live. A
process of a call becomes the runner's own child, which waits for it and ends it.
"""

import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import NoReturn

from webapp.service.components import child, limits
from webapp.service.components.child import Home
from webapp.service.components.children.settling import Pipes
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Place
from webapp.service.components.warming import DRIVERS, preload

_ORDER_BYTES, _ANSWER_BYTES = 64 * 1024, 32
_NOBODY = 0
_ANSWER_S = 10.0
_ADOPTION_S = 0.0002  # between two looks whether the runner is the parent by now


class ForkServer:
    """The process that forks, from the runner's side; the runner adopts orphans. It begins with :meth:`start`."""

    def __init__(self, confinement: Confinement) -> None:
        self._confinement = confinement
        self._line: socket.socket | None = None
        self._pid = _NOBODY

    def start(self, listener: socket.socket | None = None) -> int:
        """Begin, while this process holds nothing of a call; the number of the process. It leaves ``listener`` to this
        one, so that nobody can connect any more as soon as that is closed here."""
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
    def is_begun(self) -> bool:
        """Whether there is a process."""
        return self._line is not None

    def fork(self, place: Place, pipes: Pipes, *, relay: bool) -> int:
        """A process that lives at ``place`` with its ends of these ``pipes``; its number. Raises ``OSError``."""
        if self._line is None:
            raise OSError("nobody forks")
        order = json.dumps({"number": place.number, "folder": str(place.folder), "relay": relay}).encode()
        socket.send_fds(self._line, [order], [pipes.messages, pipes.prints, pipes.requests])
        try:
            pid = int(self._line.recv(_ANSWER_BYTES) or _NOBODY)
        except TimeoutError:
            os.kill(self._pid, signal.SIGKILL)  # its answer may come to another question
            raise
        if pid == _NOBODY:
            raise OSError("nothing was forked")
        return pid

    def close(self) -> None:
        """Let the process end; those that it forked go on."""
        if self._line is not None:
            self._line.close()
            self._line = None


def _serve(line: socket.socket, runner: int, confinement: Confinement) -> NoReturn:
    """Fork until nobody asks any more."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        limits.die_with_parent(runner)
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
    """Fork a process between, which forks the one of the call and ends: so the runner becomes its parent."""
    relay = bool(order["relay"])
    if relay:
        preload(DRIVERS)
    try:
        between = os.fork()
    except OSError:  # too many processes just now, perhaps
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
    child.live(pipes, Home(place, runner, confinement, relay))
