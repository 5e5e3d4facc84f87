"""Sends one request over one connection to a pinned address, within limits of time and size.

The connection is new, or an idle one from the :class:`ConnectionPool` to an address that the guard has just pinned for
this request. SNI, the certificate check and the Host header use the name. Only requests of one lane (one account) share
connections; an idle one is used only while its server has sent nothing and not hung up, and is closed after a few
seconds.

Sockets have a total deadline and a byte budget. A socket's own timeout restarts with every byte, so a peer that sends
one byte a second would hold a thread for ever. These sockets set the timeout to the rest of the deadline before each
operation, and count the bytes received.

A :class:`Stream` is a response that is passed on while it arrives, never held in memory as a whole; an :class:`Upload`
is a body that is read while it is sent.
"""

import re
import select
import socket
import ssl
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import IO, Any

import certifi
from urllib3._collections import HTTPHeaderDict
from urllib3.connection import HTTPConnection
from urllib3.response import BaseHTTPResponse, HTTPResponse

from webapp.kit.clock import Deadline
from webapp.service.outbound.failures import (
    NETWORK_ERRORS,
    BudgetExceeded,
    Failure,
    connect_failure,
    exchange_failure,
    too_large,
)
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.responses import Response
from webapp.service.outbound.urls import Url

BLOCK = 64 * 1024
MaskBody = Callable[[Iterator[bytes]], Iterator[bytes]]
Watch = Callable[[Response, bytes], bool]
"""Is given each block of a body as it arrives, with the response so far, and returns whether that is enough."""
_TEXT_TYPE = re.compile(
    r"\s*(text/|application/([\w.-]+\+)?(json|xml|javascript|x-www-form-urlencoded|x-ndjson)\b)", re.I
)
IDLE_S = 10.0
MAX_OPEN, MAX_OPEN_PER_LANE = 64, 4
Key = tuple[str, tuple[str, str, int]]
CONNECT_TIMEOUT_S = 5.0
MAX_ADDRESSES = 4
HEADER_BYTES = 256 * 1024
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class Upload:
    """A body of ``length`` bytes that is read when it is sent; it can be sent once."""

    source: IO[bytes] = field(repr=False)
    length: int


def header_fields(pairs: Iterable[tuple[str, str]]) -> HTTPHeaderDict:
    """Headers that are matched without regard to case; those of one name are read joined."""
    return HTTPHeaderDict(pairs)


class StreamBroken(Exception):
    """The answer broke off in the middle; the message is one sentence."""


class Stream:
    """An answer whose head has arrived. Close it, whether or not it was read to its end."""

    def __init__(self, response: BaseHTTPResponse, connection: HTTPConnection, sock: socket.socket, url: str) -> None:
        self.status, self.url = response.status, url
        self.headers: HTTPHeaderDict = response.headers
        self._response, self._connection, self._sock = response, connection, sock
        self._mask_body: MaskBody = iter

    def blocks(self) -> Iterator[bytes]:
        """The body, encoded as it came. Raises :class:`StreamBroken`."""
        return self._mask_body(self._read())

    def _read(self) -> Iterator[bytes]:
        try:
            while block := self._response.read1(BLOCK, decode_content=False):
                yield block
        except NETWORK_ERRORS as error:
            raise StreamBroken(exchange_failure(error, self._connection.host, 0).sentence) from error
        finally:
            self.close()

    def hide(self, mask: Callable[[str], str], mask_body: MaskBody) -> None:
        """Put the address and all headers through ``mask``, and a text body without an encoding through
        ``mask_body``, which keeps its length.
        """
        if _TEXT_TYPE.match(self.headers.get("content-type", "text/")) and "content-encoding" not in self.headers:
            self._mask_body = mask_body
        self.url = mask(self.url)
        self.headers = HTTPHeaderDict((name, mask(value)) for name, value in self.headers.iteritems())

    def close(self) -> None:
        """Close the connection. Calling it again has no effect."""
        self._response.close()
        self._connection.close()
        self._sock.close()


@dataclass(frozen=True, slots=True, eq=False)
class OpenConnection:
    """An open connection, its socket and the address that it goes to."""

    connection: HTTPConnection
    sock: socket.socket
    address: str

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
        self.sock.close()

    @property
    def is_quiet(self) -> bool:
        """Whether the server has neither hung up nor sent anything since its response."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN | select.POLLPRI)
        return not poll.poll(0)


class ConnectionPool:
    """Keeps idle connections, the newest last. Threads may share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[OpenConnection, tuple[Key, float]] = OrderedDict()

    def take(self, lane: str, target: Target) -> OpenConnection | None:
        """An idle connection for a request of ``lane`` to ``target``, if there is one; give it back or close it."""
        key, addresses = (lane, target.url.origin), set(map(str, target.addresses))
        with self._lock:
            self._drop_old()
            fitting = [each for each, (of, _) in self._kept.items() if of == key and each.address in addresses]
            for each in fitting:
                del self._kept[each]
        usable = [each for each in fitting if each.is_quiet]
        for each in fitting:
            if each not in usable[-1:]:
                self.give(lane, target, each) if each in usable else each.close()
        return usable[-1] if usable else None

    def give(self, lane: str, target: Target, connection: OpenConnection) -> None:
        """Keep ``connection`` for the next request."""
        key = (lane, target.url.origin)
        with self._lock:
            self._drop_old()
            self._kept[connection] = key, time.monotonic()
            of_lane = [each for each, (of, _) in self._kept.items() if of == key]
            for each in (*of_lane[:-MAX_OPEN_PER_LANE], *list(self._kept)[:-MAX_OPEN]):
                self._drop(each)

    def _drop_old(self) -> None:
        before = time.monotonic() - IDLE_S
        for each in [each for each, (_, since) in self._kept.items() if since < before]:
            self._drop(each)

    def _drop(self, connection: OpenConnection) -> None:
        if self._kept.pop(connection, None) is not None:
            connection.close()


POOL = ConnectionPool()
"""The idle connections of this process."""


@dataclass(frozen=True, slots=True)
class Message:
    """One request to one URL. Prints without what may be secret. Those of one ``lane`` may share connections."""

    method: str
    url: Url = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | Upload | None = field(repr=False, default=None)
    lane: str = field(repr=False, default="")


class Limits:
    """The rest of an exchange's time and bytes."""

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

    def exchange(
        self, message: Message, deadline: Deadline, max_bytes: int, cut: bool, watch: Watch | None = None
    ) -> Response | Failure:
        """Send ``message`` and read the whole answer, or as much as ``watch`` wants; a body above ``max_bytes`` fails,
        or is cut with ``cut``.
        """
        target = self.guard.pin(message.url, deadline)
        if isinstance(target, Failure):
            return target
        limits = Limits(deadline, max_bytes + HEADER_BYTES)
        idle = POOL.take(message.lane, target) if message.lane and message.method in _REPEATABLE else None
        if idle is not None:
            outcome = self._over(idle, target, message, limits, max_bytes, cut, watch)
            if not (isinstance(outcome, Failure) and outcome.kind == "reset"):
                return outcome  # else it was hung up on just then, and the request may be made again (RFC 9110, 9.2.2)
        try:
            sock = self.connect(target, limits)
        except OSError as error:
            return connect_failure(error, message.url.host)
        fresh = OpenConnection(_connected(sock, message.url), sock, str(sock.getpeername()[0]))
        return self._over(fresh, target, message, limits, max_bytes, cut, watch)

    def _over(
        self,
        open_connection: OpenConnection,
        target: Target,
        message: Message,
        limits: Limits,
        max_bytes: int,
        cut: bool,
        watch: Watch | None,
    ) -> Response | Failure:
        """Exchange ``message`` over an open connection, which is kept for its lane after a complete response."""
        connection, reusable = open_connection.connection, False
        open_connection.sock.limits = limits  # type: ignore[attr-defined]  # made by connect()
        try:
            _send(connection, message, self._headers(message, "gzip, deflate"))
            acknowledge_at_once(open_connection.sock)
            with connection.getresponse() as response:
                head = Response(response.status, response.headers, b"", str(message.url))
                body = _watched(response, head, max_bytes, watch) if watch else _read(response, max_bytes, cut)
                if body is None:
                    return too_large(message.url.host, max_bytes)
                reusable = bool(message.lane) and _is_whole(response, connection)
                return replace(head, body=body)
        except NETWORK_ERRORS as error:
            return exchange_failure(error, message.url.host, max_bytes)
        finally:
            if reusable:
                POOL.give(message.lane, target, open_connection)
            else:
                connection.close()
                open_connection.sock.close()

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
    """Whether the response was read to its end and the connection stays open."""
    original = response._original_response
    return original is not None and original.isclosed() and not original.will_close and connection.sock is not None


def _read(response: HTTPResponse, max_bytes: int, cut: bool) -> bytes | None:
    body = bytearray()
    while block := response.read(min(BLOCK, max_bytes + 1 - len(body))):
        body += block
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]) if cut else None
    return bytes(body)


def _watched(response: HTTPResponse, head: Response, max_bytes: int, watch: Watch) -> bytes | None:
    """The body until ``watch`` has enough; None above ``max_bytes``."""
    body = bytearray()
    while block := response.read1(BLOCK, decode_content=True):
        body += block
        if len(body) > max_bytes:
            return None
        if watch(head, block):
            break
    return bytes(body)
