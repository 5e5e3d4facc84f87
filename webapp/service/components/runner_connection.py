"""The runner's end of one client connection, which never blocks: buffers for received bytes and for unsent ones."""

import os
import selectors
import socket
from collections.abc import Callable

from webapp.service.components.wire import BLOCK


class RunnerConnection:
    """One connection. ``broker`` is the descriptor of the child's socket to its broker, once it has arrived."""

    def __init__(self, selector: selectors.BaseSelector, connection: socket.socket, data: Callable[[], None]) -> None:
        """``data`` is registered with ``selector`` and called when the connection is ready."""
        self._selector, self._connection = selector, connection
        self.inbox, self.outbox = bytearray(), bytearray()
        self.broker: int | None = None
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, data)

    def hand_over(self, data: Callable[[], None]) -> None:
        """Call ``data`` from now on when the connection is ready."""
        self._selector.modify(self._connection, self._selector.get_key(self._connection).events, data)

    def pass_descriptor(self, message: bytes, descriptor: int) -> bool:
        """Send a short ``message`` with ``descriptor`` before anything else; False if that failed."""
        try:
            return socket.send_fds(self._connection, [message], [descriptor]) == len(message)
        except OSError:
            return False

    def receive(self) -> bool | None:
        """Read into ``inbox``. Returns None if nothing has arrived, False if the client closed the connection."""
        try:
            block, descriptors, _, _ = socket.recv_fds(self._connection, BLOCK, 1)
        except BlockingIOError:
            return None
        except OSError:
            return False
        for descriptor in descriptors:
            self.close_broker()
            self.broker = descriptor
        self.inbox += block
        return bool(block)

    def receive_or_else(self, push: Callable[[], None], close: Callable[[], None]) -> bool:
        """Read into ``inbox``, and return whether bytes have arrived; if not, call ``push``, or ``close`` if the client
        has closed the connection."""
        received = self.receive()
        if received is None:
            push()
        elif not received:
            close()
        return bool(received)

    def push(self) -> bool:
        """Write as much as the socket takes, and wait to write the rest. False if the connection is broken."""
        try:
            while self.outbox:
                del self.outbox[: self._connection.send(self.outbox[:BLOCK])]
        except BlockingIOError:
            pass
        except OSError:
            return False
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.outbox else 0)
        key = self._selector.get_key(self._connection)
        if key.events != events:
            self._selector.modify(self._connection, events, key.data)
        return True

    def close_broker(self) -> None:
        """Close our copy of ``broker``."""
        if self.broker is not None:
            os.close(self.broker)
            self.broker = None

    def close(self) -> None:
        """Close the connection."""
        self._selector.unregister(self._connection)
        self._connection.close()
        self.close_broker()
