"""One connection of a piece: bytes between its channel in the host process and a server, with bounds on both sides.

Each side may be as far ahead as the other gave it credit for; who sends more has broken the rules.
"""

import selectors
import socket
from collections.abc import Callable

import orjson

from webapp.service.components.pieces import frames
from webapp.service.components.wire import Broken
from webapp.service.outbound.transport import acknowledge_at_once

_GIVEN_AT = frames.WINDOW // 4


class Channel:
    """The channel ``number``, of which ``send`` takes the frames for the host process."""

    def __init__(self, number: int, send: Callable[[bytes], None]) -> None:
        self.number = number
        self._send = send
        self._server: socket.socket | None = None
        self._to_server = bytearray()
        self._credit = frames.WINDOW  # bytes that may go to the host
        self._written = 0  # bytes that went to the server, for which no credit was given yet
        self._host_ended = self._server_ended = self._shut = False
        self.is_closed = False

    def open(self, server: socket.socket) -> None:
        """Carry bytes to ``server`` and back from now on."""
        server.setblocking(False)
        self._server = server
        self._tell(frames.OPEN, {})

    def refuse(self, sentence: str, **more: str | bool) -> None:
        """Say why there is no connection, with ``more`` for the program."""
        self._tell(frames.OPEN, {"error": sentence, **more})
        self.close()

    @property
    def server(self) -> socket.socket | None:
        """The open connection."""
        return self._server

    def events(self, host_is_full: bool) -> int:
        """For what of the connection it waits."""
        reads = not self._server_ended and self._credit > 0 and not host_is_full
        return (selectors.EVENT_READ if reads else 0) | (selectors.EVENT_WRITE if self._to_server else 0)

    def take(self, frame: frames.Frame) -> None:
        """Take in a frame of the host. Raises :class:`Broken`."""
        if frame.kind == frames.DATA and not self._host_ended:
            if len(self._to_server) + self._written + len(frame.payload) > frames.WINDOW:
                raise Broken("more than there was credit for")
            self._to_server += frame.payload
            self.write()
        elif frame.kind == frames.END:
            self._host_ended = True
            self.write()
        elif frame.kind == frames.CREDIT:
            self._credit = min(self._credit + frame.credit(), 2**40)
        elif frame.kind == frames.RESET:
            self.close()

    def write(self) -> None:
        """Write to the server what waits, as much as it takes."""
        if self._server is None or self.is_closed:
            return
        try:
            while self._to_server:
                count = self._server.send(self._to_server[: frames.DATA_BYTES])
                del self._to_server[:count]
                self._written += count
        except BlockingIOError:
            pass
        except OSError:
            self.reset("The connection broke off.")
            return
        if self._written >= _GIVEN_AT or (self._written and not self._to_server):
            self._send(frames.credit(self.number, self._written))
            self._written = 0
        if self._host_ended and not self._to_server and not self._shut:
            self._shut = True
            self._half_close()

    def read(self) -> int:
        """Pass on a block that the server sent; how many bytes that were."""
        if self._server is None or self.is_closed:
            return 0
        try:
            block = self._server.recv(min(frames.DATA_BYTES, self._credit))
        except BlockingIOError:
            return 0
        except OSError:
            self.reset("The connection broke off.")
            return 0
        if block:
            if self._server.family != socket.AF_UNIX:
                acknowledge_at_once(self._server)
            self._credit -= len(block)
            self._send(frames.of_channel(frames.DATA, self.number, block))
        else:
            self._server_ended = True
            self._send(frames.of_channel(frames.END, self.number))
            self._close_when_over()
        return len(block)

    def reset(self, sentence: str) -> None:
        """End both sides, and say why."""
        self._tell(frames.RESET, {"error": sentence})
        self.close()

    def close(self) -> None:
        """Carry nothing any more."""
        self.is_closed = True

    def release(self) -> None:
        """Let the connection go."""
        self.is_closed = True
        if self._server is not None:
            self._server.close()

    def _half_close(self) -> None:
        try:
            if self._server is not None:
                self._server.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
        self._close_when_over()

    def _close_when_over(self) -> None:
        if self._server_ended and self._shut:
            self.close()

    def _tell(self, kind: bytes, content: dict[str, str | bool]) -> None:
        self._send(frames.of_channel(kind, self.number, orjson.dumps(content)))
