"""One request and its answer over one connection, to a pinned address and within limits of time and size.

The connection is fresh for each exchange, or one that stands to an address that the guard pinned just now (``reuse``).
It goes to the address that the guard pinned, while SNI, the certificate check and the Host header use the name.

Sockets obey a total deadline and a byte budget. A socket's own timeout starts anew with every byte, so a peer that
sends one byte a second would hold a thread for ever. These set the timeout to what is left of the deadline before each
operation and count what they receive.
"""

import socket
import ssl
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import certifi
from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse

from webapp.kit.clock import Deadline
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.outcomes import (
    NETWORK_ERRORS,
    BudgetExceeded,
    Failure,
    Response,
    connect_failure,
    exchange_failure,
    too_large,
)
from webapp.service.outbound.reuse import STANDINGS, Standing
from webapp.service.outbound.streams import Stream, Upload
from webapp.service.outbound.urls import Url

CONNECT_TIMEOUT_S = 5.0
MAX_ADDRESSES = 4
HEADER_BYTES = 256 * 1024
_BLOCK = 64 * 1024
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class Message:
    """One request to one URL. Prints without what may be secret. Those of one ``lane`` may share connections."""

    method: str
    url: Url = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | Upload | None = field(repr=False, default=None)
    lane: str = field(repr=False, default="")


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


AnySocket = LimitedSocket | LimitedTLSSocket


@dataclass(frozen=True, slots=True)
class Transport:
    """Carries messages that were checked already. Threads may share one."""

    guard: Guard
    user_agent: str
    tls: ssl.SSLContext

    def exchange(self, message: Message, deadline: Deadline, max_bytes: int, cut: bool) -> Response | Failure:
        """Send ``message`` and read the whole answer; a body above ``max_bytes`` fails, or is cut with ``cut``."""
        target = self.guard.pin(message.url, deadline)
        if isinstance(target, Failure):
            return target
        limits = Limits(deadline, max_bytes + HEADER_BYTES)
        standing = STANDINGS.take(message.lane, target) if message.lane and message.method in _REPEATABLE else None
        if standing is not None:
            outcome = self._over(standing, target, message, limits, max_bytes, cut)
            if not (isinstance(outcome, Failure) and outcome.kind == "reset"):
                return outcome  # else it was hung up on just then, and the request may be made again (RFC 9110, 9.2.2)
        try:
            sock = self.connect(target, limits)
        except OSError as error:
            return connect_failure(error, message.url.host)
        fresh = Standing(_connected(sock, message.url), sock, str(sock.getpeername()[0]))
        return self._over(fresh, target, message, limits, max_bytes, cut)

    def _over(
        self, standing: Standing, target: Target, message: Message, limits: Limits, max_bytes: int, cut: bool
    ) -> Response | Failure:
        """Exchange ``message`` over ``standing``, which is kept for its lane after a whole answer."""
        connection, stands = standing.connection, False
        standing.sock.limits = limits  # type: ignore[attr-defined]  # made by connect()
        try:
            _send(connection, message, self._headers(message, "gzip, deflate"))
            acknowledge_at_once(standing.sock)
            with connection.getresponse() as response:
                body = _read(response, max_bytes, cut)
                if body is None:
                    return too_large(message.url.host, max_bytes)
                stands = bool(message.lane) and _is_whole(response, connection)
                return Response(response.status, response.headers, body, str(message.url))
        except NETWORK_ERRORS as error:
            return exchange_failure(error, message.url.host, max_bytes)
        finally:
            if stands:
                STANDINGS.give(message.lane, target, standing)
            else:
                connection.close()
                standing.sock.close()

    def begin(self, message: Message, deadline: Deadline) -> Stream | Failure:
        """Send ``message`` and read the head of the answer; its body is read from the Stream, without a bound."""
        sock = self._open(message.url, Limits(deadline, sys.maxsize))
        if isinstance(sock, Failure):
            return sock
        connection = _connected(sock, message.url)
        try:
            _send(connection, message, self._headers(message, "identity"))
            return Stream(connection.getresponse(), connection, sock, str(message.url))
        except BaseException as error:
            connection.close()
            sock.close()
            if isinstance(error, NETWORK_ERRORS):
                return exchange_failure(error, message.url.host, sys.maxsize)
            raise

    def _open(self, url: Url, limits: Limits) -> AnySocket | Failure:
        target = self.guard.pin(url, limits.deadline)
        if isinstance(target, Failure):
            return target
        try:
            return self.connect(target, limits)
        except OSError as error:
            return connect_failure(error, url.host)

    def connect(self, target: Target, limits: Limits) -> AnySocket:
        """A connection to the pinned addresses, encrypted where the URL asks for it. Raises ``OSError``."""
        sock = connect(target.addresses, target.url.port, limits)
        return secure(sock, self.tls, target.url.host) if target.url.scheme == "https" else sock

    def _headers(self, message: Message, accept_encoding: str) -> dict[str, str]:
        headers = {"Host": message.url.authority, "Accept-Encoding": accept_encoding}
        headers["Connection"] = "keep-alive" if message.lane else "close"
        if not any(name.lower() == "user-agent" for name in message.headers):
            headers["User-Agent"] = self.user_agent
        if isinstance(message.body, Upload):
            headers["Content-Length"] = str(message.body.length)
        return headers | dict(message.headers)


@lru_cache(maxsize=8)
def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """One context for each set of authorities: reading them takes longer than a request, and threads may share it."""
    context = ssl.create_default_context(cafile=certifi.where())
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = LimitedTLSSocket
    return context


def _connected(sock: AnySocket, url: Url) -> HTTPConnection:
    connection = HTTPConnection(url.host, url.port)
    connection.sock = sock  # connected already, to the pinned address: the library never resolves the name
    return connection


def _send(connection: HTTPConnection, message: Message, headers: Mapping[str, str]) -> None:
    body = message.body.source if isinstance(message.body, Upload) else message.body
    try:
        connection.request(
            message.method, message.url.target, body, headers, preload_content=False, decode_content=True
        )
    except (BrokenPipeError, ConnectionResetError):
        # The server may have answered (413, say) before it read the whole body; its answer is worth reading.
        return


def acknowledge_at_once(sock: socket.socket) -> None:
    """A server that writes its answer in parts may wait for each to be acknowledged, which else takes 40 ms."""
    if hasattr(socket, "TCP_QUICKACK"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def _is_whole(response: HTTPResponse, connection: HTTPConnection) -> bool:
    """Whether the answer was read to its end, and the server goes on listening."""
    original = response._original_response
    return original is not None and original.isclosed() and not original.will_close and connection.sock is not None


def _read(response: HTTPResponse, max_bytes: int, cut: bool) -> bytes | None:
    body = bytearray()
    while block := response.read(min(_BLOCK, max_bytes + 1 - len(body))):
        body += block
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]) if cut else None
    return bytes(body)
