"""All connections of one call of a piece: opened where it may reach them, so many at a time, and let go of with it."""

import selectors
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from webapp.service.components.pieces import connecting, frames
from webapp.service.components.pieces.channel import Channel
from webapp.service.components.pieces.dialing import Dialer
from webapp.service.components.wire import Broken
from webapp.service.outbound.outcomes import Failure

OPEN_AT_ONCE = 128  # more wait for their turn
OPEN_IN_ALL = 1_000
CARRIED_BYTES = 256 * 1024 * 1024  # that servers send to one call
NAME_CHARS, REFUSED_HOSTS = 253, 50  # of a host, and those that are told of one call
ADDRESS_BYTES = 4_096  # of what asks for a connection
_CODES = {"dns": "ENOTFOUND", "timeout": "ETIMEDOUT", "refused_by_guard": "EACCES"}


class TooMuch(Exception):
    """The call sent or received more than it may."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a call may reach: ``hosts`` are rules, ``allow_hosts`` private targets that the operator opened."""

    hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()


class Channels:
    """Those of one call until ``deadline`` (monotonic seconds). ``send`` takes frames for the host process; what has to
    be waited for is registered with ``selector``, as what has to be called with the events. ``refused`` are the hosts
    that no rule admits."""

    def __init__(
        self, reach: Reach, deadline: float, selector: selectors.BaseSelector, send: Callable[[bytes], None]
    ) -> None:
        self._reach, self._selector, self._send = reach, selector, send
        self._open: dict[int, Channel] = {}
        self._waiting: deque[tuple[Channel, str, int]] = deque()
        self._opened = self._carried = 0
        self._dialer: Dialer[Channel] = Dialer(reach.allow_hosts, deadline)
        self.refused: dict[str, None] = {}
        selector.register(self._dialer, selectors.EVENT_READ, self._take_results)

    def take(self, frame: frames.Frame) -> None:
        """Take in a frame of a channel; that of one that is over is ignored. Raises :class:`Broken`."""
        if frame.kind == frames.OPEN:
            self._begin(frame)
        elif frame.channel in self._open:
            self._open[frame.channel].take(frame)

    def watch(self, host_is_full: bool) -> None:
        """Wait for what each connection waits for, and begin those whose turn it is."""
        for channel in [*self._open.values()]:
            if channel.is_closed:
                self._drop(channel)
            elif channel.server is not None:
                watch(self._selector, channel.server, channel.events(host_is_full), partial(self._move, channel))
        while self._waiting and len(self._open) - len(self._waiting) < OPEN_AT_ONCE:
            channel, host, port = self._waiting.popleft()
            if not channel.is_closed:
                self._dialer.dial(channel, host, port)

    def close(self) -> None:
        """Let all connections go, also those that are being made."""
        self._dialer.close()
        for channel in self._open.values():
            channel.release()

    def _begin(self, frame: frames.Frame) -> None:
        match frame.json() if len(frame.payload) <= ADDRESS_BYTES else None:
            case {"host": str(host), "port": int(port)} if 0 < port < 65536:
                pass
            case _:
                raise Broken("no address")
        if frame.channel in self._open:
            raise Broken("a channel that is open already")
        channel = self._open[frame.channel] = Channel(frame.channel, self._send)
        self._opened += 1
        refused = connecting.refusal(self._reach.hosts, host, port)
        if self._opened > OPEN_IN_ALL:
            channel.refuse("A call may not have that many connections. Use fewer.")
        elif refused is not None:
            if len(host) <= NAME_CHARS and len(self.refused) < REFUSED_HOSTS:
                self.refused[host.lower()] = None
            channel.refuse(refused.sentence, refused=True)
        else:
            self._waiting.append((channel, host, port))

    def _drop(self, channel: Channel) -> None:
        if channel.server is not None:
            watch(self._selector, channel.server, 0, None)
        channel.release()
        del self._open[channel.number]

    def _move(self, channel: Channel, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            channel.write()
        if events & selectors.EVENT_READ:
            self._carried += channel.read()
            if self._carried > CARRIED_BYTES:
                raise TooMuch

    def _take_results(self, _: int) -> None:
        for channel, outcome in self._dialer.results():
            if isinstance(outcome, Failure):
                channel.refuse(outcome.sentence, code=_CODES.get(outcome.kind, "ECONNREFUSED"))
            elif channel.is_closed:
                outcome.close()
            else:
                channel.open(outcome)
                channel.write()


def watch(selector: selectors.BaseSelector, sock: socket.socket, events: int, data: Any) -> None:
    """Wait for ``events`` on ``sock``, and for no others; 0 for none."""
    key = selector.get_map().get(sock)
    if key is None:
        if events:
            selector.register(sock, events, data)
    elif not events:
        selector.unregister(sock)
    elif key.events != events:
        selector.modify(sock, events, key.data)
