"""Lets a fake server that converses over a plain socket answer on loopback."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar


class Conversing(Protocol):
    """A fake server: what it does on one connection, and where it listens while it is served."""

    port: int

    def converse(self, connection: socket.socket) -> None: ...


S = TypeVar("S", bound=Conversing)


@contextmanager
def serving(server: S) -> Iterator[S]:
    """Let ``server`` answer, one connection after another, until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.settimeout(5)
            with connection, suppress(OSError):
                server.converse(connection)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield server
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
