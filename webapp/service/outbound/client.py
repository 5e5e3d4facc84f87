"""The one HTTP client for every URL that a person or a provider gave.

It goes only where its Guard lets it, over a fresh connection to the pinned address while SNI, the certificate check
and the Host header use the name; it reads no proxy, netrc or cookie of the machine, keeps none, follows redirects
only when asked and checks each hop anew, and holds a thread no longer than the deadline. Failures of the network
are values. A fresh connection per request is deliberate: no connection outlives the check that permitted it.
"""

import ssl
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

import certifi
from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse

from webapp.service.outbound.deadline import Deadline
from webapp.service.outbound.failures import NETWORK_ERRORS, connect_failure, exchange_failure, too_large
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.hosts import HostRules
from webapp.service.outbound.messages import Body, Message, compose, follow, location
from webapp.service.outbound.outcomes import Failure, Json, Response
from webapp.service.outbound.sockets import LimitedSocket, LimitedTLSSocket, Limits, connect, secure
from webapp.service.outbound.streams import Stream, Upload
from webapp.service.outbound.urls import Url

DEADLINE_S = 20.0
MAX_BYTES = 10 * 1024 * 1024
_HEADER_ROOM = 256 * 1024
_BLOCK = 64 * 1024


class OutboundClient:
    """Sends requests through a Guard. Threads may share one."""

    def __init__(self, guard: Guard, *, user_agent: str, ca_file: str | None = None) -> None:
        """`ca_file`: a PEM file of further certificate authorities to trust beside certifi's."""
        self.guard = guard
        self._user_agent = user_agent
        self._tls = _tls_context(ca_file)

    def allowing(self, *entries: str) -> "OutboundClient":
        """A client that may also reach `entries` (`host[:port]`): for a target only one caller may reach."""
        wider = object.__new__(OutboundClient)
        wider.guard = self.guard.allowing(*entries)
        wider._user_agent, wider._tls = self._user_agent, self._tls
        return wider

    @property
    def tls(self) -> ssl.SSLContext:
        """How certificates are checked; for those who speak another protocol than HTTP through the same guard."""
        return self._tls

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        data: Body = None,
        json: Any = None,
        auth: tuple[str, str] | None = None,
        deadline_s: float = DEADLINE_S,
        max_bytes: int = MAX_BYTES,
        allow_redirects: int = 0,
        allowed_hosts: HostRules | None = None,
        cut: bool = False,
    ) -> Response | Failure:
        """Send one request and read the whole answer.

        `data` is a form (mapping) or raw bytes, `json` a JSON body, `auth` user and password for Basic.
        `deadline_s` bounds everything from the name look-up to the last byte, over all hops; `max_bytes` bounds
        the body as sent and as unpacked: more makes it fail, or with `cut` is left unread. `allow_redirects` is the
        number of hops to follow; with 0 a redirect is an answer like any other. `allowed_hosts` limits where it, and
        each hop, may go.
        """
        deadline = Deadline(deadline_s)
        checked = self._check(url, allowed_hosts)
        if isinstance(checked, Failure):
            return checked
        message = compose(method, checked.with_params(params or {}), headers or {}, data, json, auth)
        for _ in range(allow_redirects + 1):
            if isinstance(message, Failure):
                return message
            outcome = self._exchange(message, deadline, max_bytes, cut)
            if isinstance(outcome, Failure) or not allow_redirects or location(outcome) is None:
                return outcome
            message = self._next(message, outcome, allowed_hosts)
        if isinstance(message, Failure):
            return message
        return Failure("redirect_refused", f"{message.url.host} redirects too often. Use the final address.")

    def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        data: bytes | Upload | None = None,
        accept_encoding: str = "identity",
        deadline_s: float = DEADLINE_S,
        allow_redirects: int = 0,
        allowed_hosts: HostRules,
    ) -> Stream | Failure:
        """Send one request and hand its answer on while it arrives, encoded as it came. Close what comes back.

        As `request`, but that the body has no bound, `data` may be read while it is sent, and a redirect that may
        not be followed is an answer like any other.
        """
        deadline = Deadline(deadline_s)
        checked = self._check(url, allowed_hosts)
        if isinstance(checked, Failure):
            return checked
        message = compose(method, checked.with_params(params or {}), headers or {}, data, None, None)
        while not isinstance(message, Failure):
            found = self._begin(message, deadline, accept_encoding)
            if isinstance(found, Failure) or not allow_redirects or location(found) is None:
                return found
            following = self._next(message, found, allowed_hosts)
            if isinstance(following, Failure):
                return found
            found.close()
            message, allow_redirects = following, allow_redirects - 1
        return message

    def get_json(self, url: str, **options: Any) -> Json | Failure:
        """GET an address that must answer 2xx with JSON; takes the options of `request`."""
        headers = {"Accept": "application/json"} | dict(options.pop("headers", None) or {})
        outcome = self.request("GET", url, headers=headers, **options)
        if isinstance(outcome, Failure):
            return outcome
        if not outcome.ok:
            return Failure("bad_response", f"The server answered with status {outcome.status}. Check the address.")
        return outcome.json()

    def _check(self, text: str, allowed_hosts: HostRules | None) -> Url | Failure:
        url = self.guard.check(text)
        if isinstance(url, Url) and allowed_hosts is not None and not allowed_hosts.admit(url):
            return Failure(
                "refused_by_guard",
                f"{url.authority} is not an address of this app, so its credential is not sent there. "
                "Use one of the app's own addresses.",
            )
        return url

    def _next(self, message: Message, response: Response | Stream, allowed: HostRules | None) -> Message | Failure:
        try:
            url = self._check(urljoin(str(message.url), location(response) or ""), allowed)
        except ValueError:
            return Failure("redirect_refused", "The server redirects to no address. Try again later.")
        if isinstance(url, Failure):
            return Failure("redirect_refused", f"The server redirects elsewhere. {url.sentence}")
        return follow(message, response.status, url)

    def _exchange(self, message: Message, deadline: Deadline, max_bytes: int, cut: bool) -> Response | Failure:
        started = time.monotonic()
        target = self.guard.pin(message.url, deadline)
        if isinstance(target, Failure):
            return target
        limits = Limits(deadline, max_bytes + _HEADER_ROOM)
        try:
            sock = self._open(target, limits)
        except OSError as error:
            return connect_failure(error, message.url.host)
        outcome = _converse(sock, message, self._user_agent, max_bytes, cut)
        if isinstance(outcome, Failure):
            return outcome
        status, headers, body = outcome
        return Response(status, headers, body, str(message.url), round((time.monotonic() - started) * 1000))

    def _begin(self, message: Message, deadline: Deadline, accept_encoding: str) -> Stream | Failure:
        target = self.guard.pin(message.url, deadline)
        if isinstance(target, Failure):
            return target
        try:
            sock = self._open(target, Limits(deadline, sys.maxsize))
        except OSError as error:
            return connect_failure(error, message.url.host)
        connection = _connected(sock, message.url)
        try:
            _send(connection, message, _headers(message, self._user_agent, accept_encoding))
            return Stream(connection.getresponse(), connection, sock, str(message.url))
        except BaseException as error:
            connection.close()
            sock.close()
            if isinstance(error, NETWORK_ERRORS):
                return exchange_failure(error, message.url.host, sys.maxsize)
            raise

    def _open(self, target: Target, limits: Limits) -> LimitedSocket | LimitedTLSSocket:
        sock = connect(target.addresses, target.url.port, limits)
        return secure(sock, self._tls, target.url.host) if target.url.scheme == "https" else sock


def _converse(
    sock: LimitedSocket | LimitedTLSSocket, message: Message, user_agent: str, max_bytes: int, cut: bool
) -> tuple[int, Mapping[str, str], bytes] | Failure:
    url = message.url
    connection = _connected(sock, url)
    try:
        _send(connection, message, _headers(message, user_agent, "gzip, deflate"))
        with connection.getresponse() as response:
            body = _read(response, max_bytes, cut)
            if body is None:
                return too_large(url.host, max_bytes)
            return response.status, response.headers, body
    except NETWORK_ERRORS as error:
        return exchange_failure(error, url.host, max_bytes)
    finally:
        connection.close()
        sock.close()


def _connected(sock: LimitedSocket | LimitedTLSSocket, url: Url) -> HTTPConnection:
    connection = HTTPConnection(url.host, url.port)
    connection.sock = sock  # connected already, to the pinned address: the library never resolves the name
    return connection


def _headers(message: Message, user_agent: str, accept_encoding: str) -> dict[str, str]:
    headers = {"Host": message.url.authority, "Accept-Encoding": accept_encoding, "Connection": "close"}
    if not any(name.lower() == "user-agent" for name in message.headers):
        headers["User-Agent"] = user_agent
    if isinstance(message.body, Upload):
        headers["Content-Length"] = str(message.body.length)
    return headers | dict(message.headers)


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


@lru_cache(maxsize=8)
def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    """One context per set of authorities: reading them takes longer than a request, and threads may share it."""
    context = ssl.create_default_context(cafile=certifi.where())
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = LimitedTLSSocket
    return context
