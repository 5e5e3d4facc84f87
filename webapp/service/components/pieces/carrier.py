"""Carries one call of a piece in the asker's thread: its messages, and its connections to the hosts that it may reach.

What the host process says is not to be trusted: a frame of another form ends the call, and so do more messages than a
call may have. TLS is the piece's own, so that what passes is not read here.
"""

import selectors
import socket
import time
from collections.abc import Callable
from typing import Any

from webapp.service.components.pieces import frames
from webapp.service.components.pieces.channels import Channels, Reach, TooMuch, watch

_FULL = 1024 * 1024  # bytes waiting for the host, from which servers are not read
_FLOODED = 32 * 1024 * 1024  # of answers that the host asks for and does not read
_REST_S = 0.5  # for what remains to be said when the call is over


class HungUp(OSError):
    """The process is gone."""


class Carrier:
    """One call over the socket ``host``; its messages go to ``take``, which says whether that was the last one. They
    have ``most`` bytes at most. ``refused`` are the hosts that it may not reach; ``is_clean``: the process may serve
    again."""

    def __init__(
        self, host: socket.socket, reach: Reach, take: Callable[[Any], bool], deadline: float, most: int
    ) -> None:
        self._host, self._take, self._deadline, self._left = host, take, deadline, most
        self._selector = selectors.DefaultSelector()
        self._inbox, self._outbox = bytearray(), bytearray()
        self._channels = Channels(reach, deadline, self._selector, self._outbox.extend)
        self._stands: bool | None = None
        self.refused, self.is_clean = self._channels.refused, False

    def carry(self, first: bytes, line: int) -> bool:
        """Send ``first`` and work until the last message; False where there is news of the process on the descriptor
        ``line``, or it hung up. Raises ``TimeoutError`` at the deadline, :class:`Broken` and :class:`TooMuch`."""
        self._host.setblocking(False)
        self._outbox += first
        self._selector.register(line, selectors.EVENT_READ, self._end)
        try:
            while self._stands is None:
                self._turn()
        except HungUp:
            return False
        if self._stands:
            self._rest()
        return self._stands

    def close(self) -> None:
        """Let all connections go."""
        self._channels.close()
        self._selector.close()

    def _turn(self) -> None:
        """Send what the host takes, and wait for what happens next."""
        self._push()
        watch(self._selector, self._host, selectors.EVENT_READ | _writes(self._outbox), self._receive)
        self._channels.watch(len(self._outbox) > _FULL)
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        for key, events in self._selector.select(left):
            key.data(events)
            if self._stands is not None:
                return

    def _end(self, _: int) -> None:
        self._stands = False

    def _push(self) -> None:
        try:
            while self._outbox:
                del self._outbox[: self._host.send(self._outbox[: 4 * frames.DATA_BYTES])]
        except BlockingIOError:
            pass
        except OSError as error:
            raise HungUp from error

    def _receive(self, _: int) -> None:
        """Take in what the host says, until its last message."""
        try:
            block = self._host.recv(4 * frames.DATA_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            raise HungUp from error
        self._inbox += block
        while (frame := frames.take(self._inbox)) is not None:
            if frame.kind != frames.JSON:
                self._channels.take(frame)
                if len(self._outbox) > _FLOODED:
                    raise TooMuch
                continue
            self._left -= len(frame.payload)
            if self._left < 0:
                raise TooMuch
            if self._take(frame.json()):
                self._stands = True
                return
        if not block:
            self._stands = False

    def _rest(self) -> None:
        """Say to the end what is half said, so that the next call can begin, where that is possible."""
        until = time.monotonic() + _REST_S
        while time.monotonic() < until:
            self._push()
            while frames.take(self._inbox) is not None:
                pass
            if not self._outbox and not self._inbox:
                self.is_clean = True
                return
            watch(self._selector, self._host, selectors.EVENT_READ | _writes(self._outbox), self._end)
            self._selector.select(0.05)
            try:
                block = self._host.recv(4 * frames.DATA_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not block:
                return
            self._inbox += block


def _writes(outbox: bytearray) -> int:
    return selectors.EVENT_WRITE if outbox else 0
