"""The open connections of one HTTP server: where they wait, for how long at most, and how many there may be.

A connection whose next request has not arrived whole waits in an epoll set: a thousand of them cost the server's loop
nothing until one of them sends. Each has deadlines (:mod:`webapp.connection_limits`). Where too many are open, in total
or from one address, the one that has waited longest for its request is closed; the newest is refused only when requests
of all others are being answered.
"""

import ipaddress
import json
import select
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from waitress import wasyncore
from waitress.channel import HTTPChannel

from webapp import connection_limits
from webapp.connection_limits import Bound
from webapp.kit.networks import network_of
from webapp.quotas import REFUSALS

IDLE_S = 30.0
EVERY_S = 1.0
AT_A_TIME, BETWEEN_S = 64, 0.01
_AT_ONCE = 512
_TOO_SLOW = json.dumps({"error": "The request took too long to come; send it again."}).encode()
_ANSWER = (
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_TOO_SLOW), _TOO_SLOW)
)


class Channel(HTTPChannel):
    """One connection. It calls ``forget`` when it is closed.

    ``began_at`` is when it began to wait for its next request, or when the first byte of that arrived.
    ``received_bytes`` counts what has arrived of it, and ``answered`` says whether there was a request before.
    """

    forget: "Callable[[Channel], None]"
    network = ""
    received_bytes = 0
    answered = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.began_at = time.monotonic()

    def received(self, data: bytes) -> bool:
        """Parse ``data``, the next bytes that the client has sent."""
        if self.request is None:
            self.began_at, self.received_bytes = time.monotonic(), 0
        self.received_bytes += len(data)
        return bool(super().received(data))

    def handle_close(self) -> None:
        """Close it. Waitress calls this twice for a client that sends data and closes at once."""
        if self.descriptor >= 0:
            super().handle_close()

    def del_channel(self, map: Any = None) -> None:
        """Leave the map of what waitress polls; called when the socket is closed."""
        self.forget(self)
        super().del_channel(map)

    @property
    def waits(self) -> bool:
        """Whether there is nothing to answer, to send or to close."""
        return not (self.requests or self.total_outbufs_len or self.will_close or self.close_when_flushed)

    @property
    def descriptor(self) -> int:
        """The file descriptor of its socket; negative once that is closed."""
        return -1 if self.socket is None else self.socket.fileno()


class Connections:
    """All connections of one server.

    Those that wait are in an epoll set, which is one entry in the server's ``map`` of what it polls; those that are
    being answered are entries of their own.
    """

    accepting = False

    def __init__(
        self, map: dict[int, Any], numbers: Mapping[str, float], proxies: Iterable[str], channel_class: type[Channel]
    ) -> None:
        """``numbers`` are those of :data:`webapp.connection_limits.TABLE`; ``proxies`` may have any number open."""
        self._map, self._numbers, self._channel_class = map, numbers, channel_class
        self.count = 0
        self._proxies = [ipaddress.ip_network(proxy) for proxy in proxies]
        self._epoll = select.epoll()
        self._waiting: dict[int, Channel] = {}
        self._of: defaultdict[str, set[Channel]] = defaultdict(set)
        self._sweep_at = 0.0
        self._unseen: list[Channel] = []
        map[self._epoll.fileno()] = self

    @property
    def idle(self) -> int:
        """How many connections wait for a request, or for the rest of one."""
        return len(self._waiting)

    @property
    def receiving(self) -> bool:
        """Whether a request has arrived in part."""
        return any(channel.request is not None for channel in self._waiting.values())

    def open(self, server: Any, sock: socket.socket, address: Any, adj: Any, map: Any = None) -> None:
        """Accept a connection. The server calls this as its ``channel_class``."""
        network = network_of(str(address[0]))
        if not (self._has_room(None) and (self._is_proxy(str(address[0])) or self._has_room(network))):
            sock.close()
            return
        channel = self._channel_class(server, sock, address, adj, map=map)
        channel.forget, channel.network = self.forget, network
        self._of[network].add(channel)
        self._enter(channel)
        self.count += 1

    def forget(self, channel: Channel) -> None:
        """Stop counting ``channel``, which was closed."""
        self._leave(channel)
        of_network = self._of[channel.network]
        if channel in of_network:
            of_network.remove(channel)
            self.count -= 1
        if not of_network:
            del self._of[channel.network]

    def update(self) -> None:
        """Let answered connections wait again, and close those that have waited too long; called after each turn."""
        for entry in list(self._map.values()):
            if isinstance(entry, Channel) and entry.waits:
                entry.began_at, entry.answered = time.monotonic(), True
                self._enter(entry)
        now = time.monotonic()
        if now >= self._sweep_at:
            self._sweep(now)

    def pause_s(self) -> float:
        """Return how many seconds the loop may sleep without missing a deadline."""
        return max(0.0, min(EVERY_S, self._sweep_at - time.monotonic())) if self._waiting else 60.0

    def readable(self) -> bool:
        """Always true: any of those that wait may send."""
        return True

    def writable(self) -> bool:
        """Always false: those that are written to have entries of their own."""
        return False

    def handle_read_event(self) -> None:
        """Read what waiting connections have sent."""
        for descriptor, flags in self._epoll.poll(0, _AT_ONCE):
            channel = self._waiting.get(descriptor)
            if channel is None:
                continue
            wasyncore.readwrite(channel, flags)
            if descriptor in self._waiting and (not channel.waits or not channel.connected):
                self._return(channel)

    def close(self) -> None:
        """Close all connections that wait."""
        for channel in list(self._waiting.values()):
            channel.handle_close()
        self._map.pop(self._epoll.fileno(), None)
        self._epoll.close()

    def _enter(self, channel: Channel) -> None:
        descriptor = channel.descriptor
        self._map.pop(descriptor, None)
        self._waiting[descriptor] = channel
        self._epoll.register(descriptor, select.EPOLLIN)

    def _leave(self, channel: Channel) -> None:
        if self._waiting.pop(channel.descriptor, None) is not None:
            with suppress(OSError):
                self._epoll.unregister(channel.descriptor)

    def _return(self, channel: Channel) -> None:
        """Give ``channel`` back to the server's loop, which has something to do for it."""
        self._leave(channel)
        self._map[channel.descriptor] = channel

    def _sweep(self, now: float) -> None:
        """Check the deadlines of the next few: all at once would hold up the requests that are being answered."""
        self._unseen = self._unseen or list(self._waiting.values())
        seen, self._unseen = self._unseen[:AT_A_TIME], self._unseen[AT_A_TIME:]
        self._sweep_at = now + (BETWEEN_S if self._unseen else EVERY_S)
        for channel in seen:
            if self._waiting.get(channel.descriptor) is not channel:
                continue
            if not channel.waits:
                self._return(channel)
            elif (bound := self._overdue(channel, now)) is not None:
                self._end(channel, bound)

    def _overdue(self, channel: Channel, now: float) -> Bound | None:
        """Return the deadline that ``channel`` has missed, if any."""
        waited, numbers = now - channel.began_at, self._numbers
        if channel.request is None and channel.answered:
            return connection_limits.HEADERS_S if waited > IDLE_S else None
        if channel.request is None or not channel.request.headers_finished:
            return connection_limits.HEADERS_S if waited > numbers[connection_limits.HEADERS_S.name] else None
        body_s = numbers[connection_limits.HEADERS_S.name] + numbers[connection_limits.BODY_S.name]
        body_s += channel.received_bytes / connection_limits.BODY_RATE
        return connection_limits.BODY_S if waited > body_s else None

    def _end(self, channel: Channel, bound: Bound) -> None:
        """Close ``channel``, after a 408 (RFC 9110, 15.5.9) where part of a request has arrived."""
        if channel.request is not None or not channel.answered:
            REFUSALS.add(bound.name, int(self._numbers[bound.name]))
        if channel.request is not None:
            with suppress(OSError):
                channel.send(_ANSWER)
        channel.handle_close()

    def _has_room(self, network: str | None) -> bool:
        """Return whether one more may be open, in total or from ``network``, closing one that waits where it must."""
        bound = connection_limits.CONNECTIONS if network is None else connection_limits.ADDRESS_CONNECTIONS
        channels: Sequence[Channel] | set[Channel]
        if network is None:
            if self.count < self._numbers[bound.name]:
                return True
            channels = max(self._of.values(), key=len)
        else:
            channels = self._of.get(network, set())
            if len(channels) < self._numbers[bound.name]:
                return True
        waiting = [channel for channel in channels if channel.descriptor in self._waiting]
        if not waiting:
            REFUSALS.add(bound.name, int(self._numbers[bound.name]))
            return False
        self._end(min(waiting, key=lambda channel: (channel.answered, channel.began_at)), bound)
        return True

    def _is_proxy(self, address: str) -> bool:
        if not self._proxies:
            return False
        parsed = ipaddress.ip_address(address)
        return any(parsed in proxy for proxy in self._proxies)
