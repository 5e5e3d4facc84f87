"""The sockets that ``patchbay serve`` listens on, why a port cannot be used, and how several processes share one.

All web processes wait at the same sockets, and the kernel wakes them in no fair order. A process that has more
connections open than another lets that one accept first for a moment; so clients that keep their connections are spread
evenly, and no connection waits for a process that is busy or dead. The counts are in memory that all of them see.
"""

import mmap
import os
import socket
import struct
import time

YIELD_S = 0.001
_COUNT = struct.Struct("=q")


def listen(host: str, port: int) -> list[socket.socket]:
    """Return a socket on every address that ``host`` has. Raises ``OSError`` when one of them is taken or not ours."""
    candidates = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, address in dict.fromkeys((entry[0], entry[4]) for entry in candidates):
            sockets.append(socket.create_server(address, family=family, backlog=1024))
    except BaseException:
        for listener in sockets:
            listener.close()
        raise
    return sockets


def reason(error: OSError) -> str:
    """Return why a port cannot be used, in the system's words."""
    known = isinstance(error.errno, int) and error.errno > 0
    return (os.strerror(error.errno) if known else error.strerror or str(error)).lower()  # type: ignore[arg-type]


class Share:
    """The share of one process, by its number, in the connections to common sockets."""

    def __init__(self, memory: mmap.mmap, number: int) -> None:
        self._memory, self._place = memory, number * _COUNT.size

    def set_count(self, connections: int) -> None:
        """Publish how many ``connections`` this process has open."""
        _COUNT.pack_into(self._memory, self._place, connections)

    def give_way(self) -> None:
        """Wait for :data:`YIELD_S`, so that another process accepts the next connection, where one has fewer."""
        counts = [count for (count,) in _COUNT.iter_unpack(self._memory)]
        if counts[self._place // _COUNT.size] > min(counts):
            time.sleep(YIELD_S)


def shares(processes: int) -> list[Share]:
    """Return a share for each of so many ``processes``, which are forked afterwards."""
    memory = mmap.mmap(-1, processes * _COUNT.size)
    return [Share(memory, number) for number in range(processes)]
