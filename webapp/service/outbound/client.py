"""The HTTP client for every URL that a person or a provider gave.

It connects only to addresses that its Guard permits. It uses no proxy, netrc or cookie of the machine, follows
redirects only on request and checks each hop, and holds a thread no longer than the deadline. Failures of the network
are values. :mod:`.transport` sends one request over one connection.

A request is checked before any byte is sent. It never names its host: the Host header, and all headers that frame or
route the message, belong to the transport.
"""

import json as json_codec
import ssl
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode, urljoin

from webapp.kit.clock import Deadline
from webapp.kit.slots import this_thread
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import HARMLESS, header_refusal
from webapp.service.outbound.placements import basic
from webapp.service.outbound.request_signing import Sign
from webapp.service.outbound.responses import REDIRECTS, Response
from webapp.service.outbound.transport import Message, Stream, Transport, Upload, Watch, tls_context
from webapp.service.outbound.urls import HostRules, Url

DEADLINE_S = 20.0
MAX_BYTES = 10 * 1024 * 1024
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MAX_REDIRECTS = 3
"""How many redirects a GET or HEAD of a component or of the proxy follows."""
Body = bytes | Mapping[str, str] | Upload | None
Answer = TypeVar("Answer", Response, Stream)


class Head(Protocol):
    """The status and headers of a response. Header names are case-insensitive."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


class OutboundClient:
    """Sends requests through a Guard. Threads may share one."""

    def __init__(self, guard: Guard, *, user_agent: str, ca_file: str | None = None) -> None:
        """``ca_file``: a PEM file of certificate authorities to trust in addition to certifi's. Only tests give one."""
        self.guard = guard
        self._transport = Transport(guard, user_agent, tls_context(ca_file))

    def allowing(self, *entries: str) -> "OutboundClient":
        """A client that may also reach ``entries`` (``host[:port]``): for a target only one caller may reach."""
        wider = copy(self)
        wider.guard = self.guard.allowing(*entries)
        wider._transport = replace(self._transport, guard=wider.guard)
        return wider

    @property
    def tls(self) -> ssl.SSLContext:
        """The TLS settings, for other protocols than HTTP through the same guard."""
        return self._transport.tls

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
        max_redirects: int = 0,
        allowed_hosts: HostRules | None = None,
        cut: bool = False,
        sign: Sign | None = None,
        lane: str = "",
        watch: Watch | None = None,
    ) -> Response | Failure:
        """Send one request and read the whole answer.

        ``data`` is a form (mapping) or raw bytes, ``json`` a JSON body, ``auth`` user and password for Basic.
        ``deadline_s`` bounds everything from the name look-up to the last byte, over all hops; ``max_bytes`` bounds
        the body as sent and as unpacked: more makes it fail, or with ``cut`` is left unread. ``max_redirects`` is the
        number of hops to follow; with 0 a redirect is an answer like any other. ``allowed_hosts`` limits where it, and
        each hop, may go. ``sign`` signs the final request, and again what goes on to the same origin. Requests of one
        ``lane`` may share connections. ``watch`` is given the body as it arrives, and ends the reading once it has
        enough.
        """
        deadline = Deadline(deadline_s)
        checked = self._check(url, allowed_hosts)
        if isinstance(checked, Failure):
            return checked
        message = compose(method, checked.with_params(params or {}), headers or {}, data, json, auth)
        if isinstance(message, Failure):
            return message

        def send(message: Message) -> Response | Failure:
            return self._transport.exchange(message, deadline, max_bytes, cut, watch)

        message = replace(message, lane=lane)
        answer, refusal = self._follow_redirects(message, send, max_redirects, allowed_hosts, sign)
        return answer if refusal is None else refusal

    def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        data: bytes | Upload | None = None,
        deadline_s: float = DEADLINE_S,
        max_redirects: int = 0,
        allowed_hosts: HostRules,
        sign: Sign | None = None,
    ) -> Stream | Failure:
        """Send one request and hand its answer on while it arrives, encoded as it came. Close what comes back.

        As ``request``, but that the body has no bound, ``data`` may be read while it is sent, and a redirect that may
        not be followed is an answer like any other.
        """
        deadline = Deadline(deadline_s)
        checked = self._check(url, allowed_hosts)
        if isinstance(checked, Failure):
            return checked
        message = compose(method, checked.with_params(params or {}), headers or {}, data, None, None)
        if isinstance(message, Failure):
            return message

        def send(message: Message) -> Stream | Failure:
            return self._transport.begin(message, deadline)

        answer, _ = self._follow_redirects(message, send, max_redirects, allowed_hosts, sign)
        return answer

    def _follow_redirects(
        self,
        message: Message,
        send: Callable[[Message], Answer | Failure],
        max_redirects: int,
        allowed_hosts: HostRules | None,
        sign: Sign | None,
    ) -> tuple[Answer | Failure, Failure | None]:
        """The last answer to ``message`` after at most ``max_redirects`` hops; and if it redirects, why that stopped.

        With no hops to follow, a redirect is an answer like any other. Nothing is signed for another origin, nor
        after a hop to one.
        """
        origin, hops_left = message.url.origin, max_redirects
        while True:
            signed = _signed(message, sign)
            if isinstance(signed, Failure):
                return signed, None
            with this_thread.waiting:
                answer = send(signed)
            if isinstance(answer, Failure) or not max_redirects or location(answer) is None:
                return answer, None
            following = self._next(signed, answer, allowed_hosts)
            if isinstance(following, Failure):
                return answer, following
            if not hops_left:
                return answer, _redirect_refused(f"{following.url.host} redirects too often.")
            if isinstance(answer, Stream):
                answer.close()
            message, hops_left = following, hops_left - 1
            if message.url.origin != origin:
                sign = None

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


def compose(
    method: str, url: Url, headers: Mapping[str, str], data: Body, json: Any, auth: tuple[str, str] | None
) -> Message | Failure:
    """Build a Message, or say which part may not be sent. ``auth`` is user and password for Basic (RFC 7617)."""
    if method not in METHODS:
        return _refused("The request method is not one that may be used. Use GET, POST, PUT, PATCH or DELETE.")
    body, content_type = _encode(data, json)
    merged = ({"Content-Type": content_type} if content_type else {}) | dict(headers)
    if content_type and any(name.lower() == "content-type" for name in headers):
        merged = dict(headers)
    if auth is not None:
        merged["Authorization"] = basic(*auth)
    for name, value in merged.items():
        if refusal := header_refusal(name, value):
            return refusal
    return Message(method, url, merged, body)


def _signed(message: Message, sign: Sign | None) -> Message | Failure:
    """``message`` signed, where what the signature adds can be sent."""
    if sign is None:
        return message
    signed = sign(message)
    if isinstance(signed, Failure):
        return signed
    return next(filter(None, (header_refusal(name, value) for name, value in signed.headers.items())), signed)


def location(response: Head) -> str | None:
    """The target of a redirect; None when the answer is none."""
    return response.headers.get("location") if response.status in REDIRECTS else None


def follow(message: Message, status: int, url: Url) -> Message | Failure:
    """The next request after a redirect to ``url`` (RFC 9110, 15.4).

    Another origin gets no credential: only harmless headers go on, and a body that must be repeated does not.
    """
    if message.url.scheme == "https" and url.scheme != "https":
        return _redirect_refused("The server redirects to an address without encryption, which is not followed.")
    repeat = status in (307, 308) or message.method in ("GET", "HEAD")
    following = replace(message, url=url) if repeat else _as_get(message, url)
    if url.origin == message.url.origin:
        return following
    if following.body is not None:
        return _redirect_refused(f"The server redirects the data to {url.host}, which is not followed.")
    kept = {name: value for name, value in following.headers.items() if name.lower() in HARMLESS}
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


def _refused(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)


def _redirect_refused(sentence: str) -> Failure:
    return Failure("redirect_refused", f"{sentence} Use the final address.")
