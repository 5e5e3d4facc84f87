"""The runner's end of one asker's connection, which never blocks: what comes, and what waits to be written."""

import os
import selectors
import socket
from collections.abc import Callable

from webapp.service.components.wire import BLOCK


class RunnerConnection:
    """One connection. ``broker`` is the child's end of the way to its broker, once that has come."""

    def __init__(self, selector: selectors.BaseSelector, connection: socket.socket, data: Callable[[], None]) -> None:
        """``data`` is what ``selector`` gives when the connection is ready."""
        self._selector, self._connection = selector, connection
        self.inbox, self.outbox = bytearray(), bytearray()
        self.broker: int | None = None
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, data)

    def hand_over(self, data: Callable[[], None]) -> None:
        """Have ``data`` called from now on when the connection is ready."""
        self._selector.modify(self._connection, self._selector.get_key(self._connection).events, data)

    def pass_descriptor(self, message: bytes, descriptor: int) -> bool:
        """Send a short ``message`` with ``descriptor``, before anything else; whether that went."""
        try:
            return socket.send_fds(self._connection, [message], [descriptor]) == len(message)
        except OSError:
            return False

    def receive(self) -> bool | None:
        """Put what has come into ``inbox``; None when nothing has, False when the other end hung up."""
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

    def heard(self, push: Callable[[], None], close: Callable[[], None]) -> bool:
        """Whether something has come; ``push`` is called where nothing has, ``close`` where the other end hung up."""
        received = self.receive()
        if received is None:
            push()
        elif not received:
            close()
        return bool(received)

    def push(self) -> bool:
        """Write what the connection takes now, and ask to be called for the rest; whether it still stands."""
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
        """Hang up."""
        self._selector.unregister(self._connection)
        self._connection.close()
        self.close_broker()
