"""Makes the connections of one call beside it, so that a server that keeps silent holds up nothing else."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from webapp.kit.clock import Deadline
from webapp.service.components.pieces import connecting
from webapp.service.outbound.outcomes import Failure

T = TypeVar("T")


class Dialer(Generic[T]):
    """Dials until ``deadline`` (monotonic seconds); its descriptor is ready when there are :meth:`results`."""

    def __init__(self, allow_hosts: tuple[str, ...], deadline: float) -> None:
        self._allow_hosts, self._deadline = allow_hosts, deadline
        self._results: SimpleQueue[tuple[T, socket.socket | Failure]] = SimpleQueue()
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock, self._is_over = threading.Lock(), False

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._reading

    def dial(self, purpose: T, host: str, port: int) -> None:
        """Connect to ``port`` of ``host``; what comes of it is a result with its ``purpose``."""
        threading.Thread(target=self._dial, args=(purpose, host, port), name="piece-dial", daemon=True).start()

    def results(self) -> Iterator[tuple[T, socket.socket | Failure]]:
        """What has come about since the last time."""
        os.read(self._reading, 4096)
        yield from self._rest()

    def close(self) -> None:
        """Want nothing more; connections that come about are closed."""
        with self._lock:
            self._is_over = True
            os.close(self._reading)
            os.close(self._writing)
        for _, outcome in self._rest():
            _close(outcome)

    def _rest(self) -> Iterator[tuple[T, socket.socket | Failure]]:
        while True:
            try:
                yield self._results.get_nowait()
            except Empty:
                return

    def _dial(self, purpose: T, host: str, port: int) -> None:
        deadline = Deadline(max(0.0, self._deadline - time.monotonic()))
        outcome = connecting.connected(self._allow_hosts, host, port, deadline)
        with self._lock:
            if not self._is_over:
                self._results.put((purpose, outcome))
                os.write(self._writing, b"\0")
                return
        _close(outcome)


def _close(outcome: socket.socket | Failure) -> None:
    if isinstance(outcome, socket.socket):
        outcome.close()
