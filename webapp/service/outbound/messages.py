"""A request as data, checked before any byte goes out: method, headers and body; and the request a redirect leads to.

A message never names its host: the Host header, and all that frames or routes the message, belong to the client.
"""

import base64
import json as json_codec
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import urlencode

from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.streams import Upload
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
