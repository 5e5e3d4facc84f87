"""The connections of one call of a piece: opened to permitted hosts, limited in number, and closed with the call.

Rules name the hosts, which are public or allowed by the operator. Threads make the connections, so that a slow server
delays nothing else; buffers are bounded on both sides.
"""

import os
import selectors
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import orjson

from webapp.kit.clock import Deadline
from webapp.service.components.pieces import frames
from webapp.service.components.wire import ProtocolError
from webapp.service.outbound.failures import Failure, connect_failure
from webapp.service.outbound.guard import DATABASE_PORTS, MAIL_PORTS, Guard
from webapp.service.outbound.transport import Limits, acknowledge_at_once, connect
from webapp.service.outbound.urls import parse_host, split_authority

# Besides those from 1024 on, the ports that a rule without a port admits.
PORTS = frozenset({22, 80, 443, 993, 995}) | MAIL_PORTS | DATABASE_PORTS
T = TypeVar("T")
_GIVEN_AT = frames.WINDOW // 4
OPEN_AT_ONCE = 128  # more wait for their turn
OPEN_IN_ALL = 1_000
CARRIED_BYTES = 256 * 1024 * 1024  # bytes that servers may send to one call
NAME_CHARS, REFUSED_HOSTS = 253, 50  # characters of a host name; refused hosts reported of one call
ADDRESS_BYTES = 4_096  # bytes of a request for a connection
_CODES = {"dns": "ENOTFOUND", "timeout": "ETIMEDOUT", "refused_by_guard": "EACCES"}


def refusal(rules: tuple[str, ...], host: str, port: int) -> Failure | None:
    """The reason why a piece with these ``rules`` may not connect to ``port`` of ``host``; None if it may."""
    name = parse_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
    if isinstance(name, Failure):
        return name
    if any(_admits(rule, name, port) for rule in rules):
        return None
    sentence = f"{host} is not among the hosts that this integration may reach. Ask an owner to allow it."
    return Failure("refused_by_guard", sentence)


def connected(allow_hosts: tuple[str, ...], host: str, port: int, deadline: Deadline) -> socket.socket | Failure:
    """Return a connection to ``port`` of ``host``, which is resolved and checked once, or the failure."""
    addresses = Guard(allow_hosts).pin_host(host, port, deadline, PORTS)
    if isinstance(addresses, Failure):
        return addresses
    try:
        connection = connect(addresses, port, Limits(deadline, sys.maxsize))
    except OSError as error:
        return connect_failure(error, host)
    return socket.socket(fileno=connection.detach())  # a blocking socket without a deadline


def _admits(rule: str, host: str, port: int) -> bool:
    """Whether ``rule``, a host or ``*.`` and a suffix with a port or without, admits ``port`` of ``host``."""
    name, its_port = split_authority(rule.lower())
    if its_port is not None and its_port != str(port):
        return False
    if name.startswith("*."):
        return host.endswith(name[1:])
    return host == name.strip("[]")


class Dialer(Generic[T]):
    """Connects in threads until ``deadline`` (monotonic seconds); its descriptor is readable if there are results."""

    def __init__(self, allow_hosts: tuple[str, ...], deadline: float) -> None:
        self._allow_hosts, self._deadline = allow_hosts, deadline
        self._results: SimpleQueue[tuple[T, socket.socket | Failure]] = SimpleQueue()
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock, self._is_over = threading.Lock(), False

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._reading

    def dial(self, purpose: T, host: str, port: int) -> None:
        """Start to connect to ``port`` of ``host``; the result has this ``purpose``."""
        threading.Thread(target=self._dial, args=(purpose, host, port), name="piece-dial", daemon=True).start()

    def results(self) -> Iterator[tuple[T, socket.socket | Failure]]:
        """Yield the purposes and outcomes since the last call."""
        os.read(self._reading, 4096)
        yield from self._rest()

    def close(self) -> None:
        """Stop; connections that are still being made are closed."""
        with self._lock:
            self._is_over = True
            os.close(self._reading)
            os.close(self._writing)
        for _, outcome in self._rest():
            _close(outcome)

    def _rest(self) -> Iterator[tuple[T, socket.socket | Failure]]:
        while True:
            try:
                yield self._results.get_nowait()
            except Empty:
                return

    def _dial(self, purpose: T, host: str, port: int) -> None:
        deadline = Deadline(max(0.0, self._deadline - time.monotonic()))
        outcome = connected(self._allow_hosts, host, port, deadline)
        with self._lock:
            if not self._is_over:
                self._results.put((purpose, outcome))
                os.write(self._writing, b"\0")
                return
        _close(outcome)


def _close(outcome: socket.socket | Failure) -> None:
    if isinstance(outcome, socket.socket):
        outcome.close()


class Channel:
    """The channel ``number``; ``send`` takes its frames for the host process."""

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
        """Start to copy bytes to and from ``server``."""
        server.setblocking(False)
        self._server = server
        self._tell(frames.OPEN, {})

    def refuse(self, sentence: str, **more: str | bool) -> None:
        """Report why there is no connection, with ``more`` details for the program."""
        self._tell(frames.OPEN, {"error": sentence, **more})
        self.close()

    @property
    def server(self) -> socket.socket | None:
        """The open connection, or None."""
        return self._server

    def events(self, host_is_full: bool) -> int:
        """The selector events to wait for."""
        reads = not self._server_ended and self._credit > 0 and not host_is_full
        return (selectors.EVENT_READ if reads else 0) | (selectors.EVENT_WRITE if self._to_server else 0)

    def take(self, frame: frames.Frame) -> None:
        """Handle a frame of the host process. Raises :class:`ProtocolError`."""
        if frame.kind == frames.DATA and not self._host_ended:
            if len(self._to_server) + self._written + len(frame.payload) > frames.WINDOW:
                raise ProtocolError("more data than the credit allows")
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
        """Write pending bytes to the server, as many as it takes."""
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
        """Pass on a block from the server and return its size in bytes."""
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
        """Close both sides and report why."""
        self._tell(frames.RESET, {"error": sentence})
        self.close()

    def close(self) -> None:
        """Stop copying bytes."""
        self.is_closed = True

    def release(self) -> None:
        """Stop copying bytes and close the connection."""
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


class TooMuch(Exception):
    """The call sent or received more bytes than allowed."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The hosts that a call may reach: ``hosts`` are rules, ``allow_hosts`` private targets that the operator
    allowed."""

    hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()


class Channels:
    """The channels of one call until ``deadline`` (monotonic seconds).

    ``send`` takes frames for the host process. Sockets are registered with ``selector``; the data is a function to call
    with the events. ``refused`` are the hosts that no rule admits.
    """

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
        """Handle a frame of a channel; frames of closed channels are ignored. Raises :class:`ProtocolError`."""
        if frame.kind == frames.OPEN:
            self._begin(frame)
        elif frame.channel in self._open:
            self._open[frame.channel].take(frame)

    def watch(self, host_is_full: bool) -> None:
        """Register the events of all connections, and open waiting ones as far as the limit allows."""
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
        """Close all connections, including those being made."""
        self._dialer.close()
        for channel in self._open.values():
            channel.release()

    def _begin(self, frame: frames.Frame) -> None:
        match frame.json() if len(frame.payload) <= ADDRESS_BYTES else None:
            case {"host": str(host), "port": int(port)} if 0 < port < 65536:
                pass
            case _:
                raise ProtocolError("no address")
        if frame.channel in self._open:
            raise ProtocolError("a channel that is open already")
        channel = self._open[frame.channel] = Channel(frame.channel, self._send)
        self._opened += 1
        refused = refusal(self._reach.hosts, host, port)
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
    """Register ``sock`` for exactly ``events``; 0 unregisters it."""
    key = selector.get_map().get(sock)
    if key is None:
        if events:
            selector.register(sock, events, data)
    elif not events:
        selector.unregister(sock)
    elif key.events != events:
        selector.modify(sock, events, key.data)
