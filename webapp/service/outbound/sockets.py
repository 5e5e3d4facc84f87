"""Sockets that obey a total deadline and a byte budget, connected to pinned addresses only.

A socket's own timeout starts anew with every byte, so a peer that sends one byte a second would hold a thread for
ever. These set the timeout to what is left of the deadline before each operation and count what they receive.
"""

import socket
import ssl
import time
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Any


class Deadline:
    """Counts down from the moment it is made, by a clock that nobody sets; `remaining` is in seconds."""

    __slots__ = ("_ends",)

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left, always above zero; raises TimeoutError when there are none."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    def at_most(self, seconds: float) -> "Deadline":
        """The sooner of this deadline and one that starts now."""
        sooner = Deadline(seconds)
        sooner._ends = min(sooner._ends, self._ends)
        return sooner


CONNECT_TIMEOUT_S = 5.0
MAX_ADDRESSES = 4


class BudgetExceeded(Exception):
    """The peer sent more bytes than this exchange takes."""


class Limits:
    """What one exchange may still use: time, and bytes received."""

    def __init__(self, deadline: Deadline, max_bytes: int) -> None:
        self.deadline = deadline
        self._left = max_bytes

    def received(self, count: int) -> int:
        """Book `count` bytes and give it back; raises BudgetExceeded when they are too many."""
        self._left -= count
        if self._left < 0:
            raise BudgetExceeded
        return count


class LimitedSocket(socket.socket):
    """A plain socket under Limits."""

    limits: Limits

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.limits.deadline.remaining())
        return self.limits.received(super().recv_into(*args, **kwargs))

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        # A socket's timeout bounds the whole of sendall, so setting it once is enough.
        self.settimeout(self.limits.deadline.remaining())
        super().sendall(*args, **kwargs)


class LimitedTLSSocket(ssl.SSLSocket):
    """A TLS socket under Limits; an SSLContext makes these once its `sslsocket_class` says so."""

    limits: Limits

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.limits.deadline.remaining())
        return self.limits.received(super().recv_into(*args, **kwargs))

    def send(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.limits.deadline.remaining())
        return super().send(*args, **kwargs)


def connect(addresses: Sequence[IPv4Address | IPv6Address], port: int, limits: Limits) -> LimitedSocket:
    """Connect to the first address that answers, in order, within 5 s for all; raises OSError."""
    deadline = limits.deadline.at_most(CONNECT_TIMEOUT_S)
    tried = addresses[:MAX_ADDRESSES]
    for attempt, address in enumerate(tried, start=1):
        try:
            # An equal share of what is left, so that a silent first address leaves time for the second.
            return _connect_one(address, port, deadline.remaining() / (len(tried) - attempt + 1), limits)
        except OSError:
            if attempt == len(tried):
                raise
    raise OSError("no address to connect to")


def secure(sock: LimitedSocket, context: ssl.SSLContext, server_name: str) -> LimitedTLSSocket:
    """Do the TLS handshake: SNI and the certificate check use `server_name`. Takes `sock` over, also on failure."""
    limits = sock.limits
    try:
        secured = context.wrap_socket(sock, server_hostname=server_name, do_handshake_on_connect=False)
    except BaseException:
        sock.close()
        raise
    assert isinstance(secured, LimitedTLSSocket)
    secured.limits = limits
    try:
        secured.settimeout(limits.deadline.remaining())
        secured.do_handshake()
    except BaseException:
        secured.close()
        raise
    return secured


def _connect_one(address: IPv4Address | IPv6Address, port: int, timeout_s: float, limits: Limits) -> LimitedSocket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    sock = LimitedSocket(family, socket.SOCK_STREAM)
    sock.limits = limits
    try:
        sock.settimeout(timeout_s)
        sock.connect((str(address), port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock
