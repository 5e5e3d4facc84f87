"""Ports of this machine for servers of tests."""

import random
import socket
from contextlib import ExitStack


def free_port(*offsets: int) -> int:
    """A port that is free, as are those at these ``offsets`` from it; with none, the next one.

    It lies below those that outgoing connections get, so that none of them takes it before its server listens, or
    while that is started again.
    """
    while True:
        port = random.randrange(12_000, 32_000)
        with ExitStack() as sockets:
            try:
                for offset in {0, *(offsets or (1,))}:
                    sockets.enter_context(socket.socket()).bind(("127.0.0.1", port + offset))
            except OSError:
                continue
            return port
