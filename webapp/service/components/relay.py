"""Relays connections of database drivers and others that speak no HTTP, in the process of a call.

That process has no network, and a driver opens its own sockets. So a relay listens on a loopback address, on the
server's own port; for each connection to it, the broker opens one to the account's server and passes its descriptor.
The bytes are copied unread, so that encryption stays between the driver and the server.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address
from itertools import count
from queue import Empty, SimpleQueue

from webapp.kit.clock import Deadline
from webapp.service.components.brokered_http import BrokerLine
from webapp.service.components.errors import HttpError
from webapp.service.components.wire import BLOCK
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import DATABASE_PORTS, Address, Guard

_FIRST = int(IPv4Address("127.80.0.1"))
_addresses = count(_FIRST)


class RelayGuard(Guard):
    """A guard that pins hosts to the addresses of relays; the broker checks and connects. Threads may share one."""

    def __init__(self, line: BrokerLine) -> None:
        super().__init__()
        self._line, self._relays = line, dict[tuple[str, int], Address]()

    def pin_host(
        self, host: str, port: int, deadline: Deadline, usual: frozenset[int] = DATABASE_PORTS
    ) -> tuple[Address, ...] | Failure:
        """Return the address of a relay to ``port`` of ``host`` after a first connection has been made, or the
        failure."""
        address = self._relays.get((host, port))
        if address is None:
            first = self._connect(host, port)
            if isinstance(first, Failure):
                return first
            try:
                address = _listen(first, port, lambda: self._connect(host, port))
            except OSError:
                first.close()
                return Failure("connect", f"Port {port} cannot be relayed on this machine. Use another port.")
            self._relays[host, port] = address
        return (address,)

    def _connect(self, host: str, port: int) -> socket.socket | Failure:
        try:
            answer, descriptor = self._line.ask_for_descriptor({"host": host, "port": port})
        except HttpError as error:
            return Failure("connect", str(error))
        if descriptor is None:
            return Failure(answer["kind"], answer["sentence"])
        return socket.socket(fileno=descriptor)


def _listen(first: socket.socket, port: int, connect: Callable[[], socket.socket | Failure]) -> Address:
    """Listen on the returned address; relay its first connection to ``first``, and later ones to new connections."""
    address = IPv4Address(next(_addresses))
    listener = socket.create_server((str(address), port))
    ready: SimpleQueue[socket.socket] = SimpleQueue()
    ready.put(first)
    threading.Thread(target=_serve, args=(listener, ready, connect), daemon=True).start()
    return address


def _serve(
    listener: socket.socket, ready: "SimpleQueue[socket.socket]", connect: Callable[[], socket.socket | Failure]
) -> None:
    while True:
        near, _ = listener.accept()
        try:
            far: socket.socket | Failure = ready.get_nowait()
        except Empty:
            far = connect()
        if isinstance(far, Failure):
            near.close()
            continue
        threading.Thread(target=_join, args=(near, far), daemon=True).start()


def _join(near: socket.socket, far: socket.socket) -> None:
    with near, far:
        back = threading.Thread(target=_pump, args=(far, near), daemon=True)
        back.start()
        _pump(near, far)
        back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(BLOCK):
            target.sendall(block)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
