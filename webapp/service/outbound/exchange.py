"""One request and its answer over one connection, to a pinned address and within limits of time and size.

The connection is fresh for each exchange, so that none outlives the check that permitted it. It goes to the address
that the guard pinned, while SNI, the certificate check and the Host header use the name.

A request is a :class:`Message`, checked before any byte goes out. It never names its host: the Host header, and all
that frames or routes the message, belong to the client.
"""

import base64
import json as json_codec
import re
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import urlencode

import certifi
from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse

from webapp.service.outbound.failures import NETWORK_ERRORS, connect_failure, exchange_failure, too_large
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.sockets import Deadline, LimitedSocket, LimitedTLSSocket, Limits, connect, secure
from webapp.service.outbound.streams import Stream, Upload
from webapp.service.outbound.urls import Url

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Framing and routing (RFC 9110, 7.6.1; RFC 9112): set by the transport, never by a caller.
RESERVED = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade"}
    | {"expect", "proxy-authorization", "proxy-connection", "accept-encoding"}
)
# All that a request may carry to another origin; whatever else a caller set may be a credential.
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Body = bytes | Mapping[str, str] | Upload | None


class Head(Protocol):
    """What every answer begins with. Header names are matched without regard to case."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Message:
    """One request to one URL. Prints without what may be secret."""

    method: str
    url: Url = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | Upload | None = field(repr=False, default=None)


def compose(
    method: str, url: Url, headers: Mapping[str, str], data: Body, json: Any, auth: tuple[str, str] | None
) -> Message | Failure:
    """Build a Message, or say which part may not be sent. `auth` is user and password for Basic (RFC 7617)."""
    if method not in METHODS:
        return _no("The request method is not one that may be used. Use GET, POST, PUT, PATCH or DELETE.")
    body, content_type = _encode(data, json)
    merged = ({"Content-Type": content_type} if content_type else {}) | dict(headers)
    if content_type and any(name.lower() == "content-type" for name in headers):
        merged = dict(headers)
    if auth is not None:
        merged["Authorization"] = basic(*auth)
    for name, value in merged.items():
        if refusal := _header_refusal(name, value):
            return refusal
    return Message(method, url, merged, body)


def basic(user: str, password: str) -> str:
    """The value of an Authorization header for Basic authentication, in UTF-8 (RFC 7617, 2.1)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode(errors="replace")).decode("ascii")


def location(response: Head) -> str | None:
    """The target of a redirect; None when the answer is none."""
    return response.headers.get("location") if response.status in _REDIRECTS else None


def follow(message: Message, status: int, url: Url) -> Message | Failure:
    """The next request after a redirect to `url` (RFC 9110, 15.4).

    Another origin gets no credential: only harmless headers go on, and a body that must be repeated does not.
    """
    if message.url.scheme == "https" and url.scheme != "https":
        return _astray("The server redirects to an address without encryption, which is not followed.")
    repeat = status in (307, 308) or message.method in ("GET", "HEAD")
    following = replace(message, url=url) if repeat else _as_get(message, url)
    if url.origin == message.url.origin:
        return following
    if following.body is not None:
        return _astray(f"The server redirects the data to {url.host}, which is not followed.")
    kept = {name: value for name, value in following.headers.items() if name.lower() in _HARMLESS}
    return replace(following, headers=kept)


def _as_get(message: Message, url: Url) -> Message:
    headers = {name: value for name, value in message.headers.items() if name.lower() != "content-type"}
    return Message("GET", url, headers)


def _encode(data: Body, json: Any) -> tuple[bytes | Upload | None, str | None]:
    if json is not None:
        return json_codec.dumps(json, separators=(",", ":")).encode(), "application/json"
    if isinstance(data, Mapping):
        return urlencode(data, errors="replace").encode("ascii"), "application/x-www-form-urlencoded"
    return data, None


def _header_refusal(name: str, value: str) -> Failure | None:
    if not _TOKEN.fullmatch(name):
        return _no("A header name holds characters that are not allowed. Use letters, digits and hyphens.")
    if name.lower() in RESERVED:
        return _no(f"The header {name} is set by the service. Leave it out.")
    if not _VALUE.fullmatch(value):
        return _no(f"The value of the header {name} holds a line break or another character not allowed there.")
    return None


def _no(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)


def _astray(sentence: str) -> Failure:
    return Failure("redirect_refused", f"{sentence} Use the final address.")


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
