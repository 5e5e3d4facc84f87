"""One request and its answer over one connection, to a pinned address and within limits of time and size.

The connection is fresh for each exchange, so that none outlives the check that permitted it. It goes to the address
that the guard pinned, while SNI, the certificate check and the Host header use the name.
"""

import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import certifi
from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse

from webapp.service.outbound.deadline import Deadline
from webapp.service.outbound.failures import NETWORK_ERRORS, connect_failure, exchange_failure, too_large
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.messages import Message
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.sockets import LimitedSocket, LimitedTLSSocket, Limits, connect, secure
from webapp.service.outbound.streams import Stream, Upload
from webapp.service.outbound.urls import Url

HEADER_BYTES = 256 * 1024
_BLOCK = 64 * 1024
AnySocket = LimitedSocket | LimitedTLSSocket


@dataclass(frozen=True, slots=True)
class Transport:
    """Carries messages that were checked already. Threads may share one."""

    guard: Guard
    user_agent: str
    tls: ssl.SSLContext

    def exchange(self, message: Message, deadline: Deadline, max_bytes: int, cut: bool) -> Response | Failure:
        """Send ``message`` and read the whole answer; a body above ``max_bytes`` fails, or is cut with ``cut``."""
        sock = self._open(message.url, Limits(deadline, max_bytes + HEADER_BYTES))
        if isinstance(sock, Failure):
            return sock
        connection = _connected(sock, message.url)
        try:
            _send(connection, message, self._headers(message, "gzip, deflate"))
            with connection.getresponse() as response:
                body = _read(response, max_bytes, cut)
                if body is None:
                    return too_large(message.url.host, max_bytes)
                return Response(response.status, response.headers, body, str(message.url))
        except NETWORK_ERRORS as error:
            return exchange_failure(error, message.url.host, max_bytes)
        finally:
            connection.close()
            sock.close()

    def begin(self, message: Message, deadline: Deadline, accept_encoding: str) -> Stream | Failure:
        """Send ``message`` and read the head of the answer; its body is read from the Stream, without a bound."""
        sock = self._open(message.url, Limits(deadline, sys.maxsize))
        if isinstance(sock, Failure):
            return sock
        connection = _connected(sock, message.url)
        try:
            _send(connection, message, self._headers(message, accept_encoding))
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
        headers = {"Host": message.url.authority, "Accept-Encoding": accept_encoding, "Connection": "close"}
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


def _read(response: HTTPResponse, max_bytes: int, cut: bool) -> bytes | None:
    body = bytearray()
    while block := response.read(min(_BLOCK, max_bytes + 1 - len(body))):
        body += block
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]) if cut else None
    return bytes(body)
