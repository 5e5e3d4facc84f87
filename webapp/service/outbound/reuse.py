"""Connections that stand after an answer, for the next request of the same lane to the same origin.

A lane is whoever may share connections: one account. A connection is taken only to an address that the guard has just
pinned for that request, and only while its server is silent and has not hung up; it is let go of after a few seconds.
"""

import select
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from socket import socket

from urllib3.connection import HTTPConnection

from webapp.service.outbound.guard import Target

IDLE_S = 10.0
MOST, MOST_PER_LANE = 64, 4
Key = tuple[str, tuple[str, str, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """An open connection, its socket and the address that it goes to."""

    connection: HTTPConnection
    sock: socket
    address: str

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
        self.sock.close()

    @property
    def is_quiet(self) -> bool:
        """Whether the server has neither hung up nor said anything since its answer."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN | select.POLLPRI)
        return not poll.poll(0)


class Standings:
    """Keeps them, the newest last. Threads may share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Standing, tuple[Key, float]] = OrderedDict()

    def take(self, lane: str, target: Target) -> Standing | None:
        """One for a request of ``lane`` to ``target``; whoever takes it gives it back or closes it."""
        key, addresses = (lane, target.url.origin), set(map(str, target.addresses))
        with self._lock:
            self._drop_old()
            fitting = [each for each, (of, _) in self._kept.items() if of == key and each.address in addresses]
            for each in fitting:
                del self._kept[each]
        usable = [each for each in fitting if each.is_quiet]
        for each in fitting:
            if each not in usable[-1:]:
                self.give(lane, target, each) if each in usable else each.close()
        return usable[-1] if usable else None

    def give(self, lane: str, target: Target, standing: Standing) -> None:
        """Keep ``standing`` for a while."""
        key = (lane, target.url.origin)
        with self._lock:
            self._drop_old()
            self._kept[standing] = key, time.monotonic()
            of_lane = [each for each, (of, _) in self._kept.items() if of == key]
            for each in (*of_lane[:-MOST_PER_LANE], *list(self._kept)[:-MOST]):
                self._drop(each)

    def _drop_old(self) -> None:
        before = time.monotonic() - IDLE_S
        for each in [each for each, (_, since) in self._kept.items() if since < before]:
            self._drop(each)

    def _drop(self, standing: Standing) -> None:
        if self._kept.pop(standing, None) is not None:
            standing.close()


STANDINGS = Standings()
"""Those of this process."""
