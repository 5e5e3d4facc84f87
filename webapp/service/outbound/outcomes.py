"""The results of requests, as values: a Response, or a Failure with its kind and one sentence.

Nothing here opens a socket. The repr of a Response has no body, headers or address, because each may contain a secret.
Every error of a connection becomes a Failure: only this module knows the libraries' exceptions. JSON is parsed here
too: an HTML page, broken UTF-8 or deep nesting becomes a Failure. Text is cleaned so that it can be stored and shown;
pages also escape it.

XML is converted to the form of JSON: an element with children is an object, one without is its text. Names lose their
namespace, attributes are dropped, and a name that occurs several times becomes a list. A document type is refused, so
that no entity is expanded or fetched.
"""

import json
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, RemoteDisconnected
from http.client import IncompleteRead as BodyCutShort
from typing import Any, Literal
from xml.etree.ElementTree import Element, ParseError, XMLParser

from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, ProtocolError, ReadTimeoutError

from webapp.kit.sentences import marked

FailureKind = Literal[
    "refused_by_guard",  # the address, port or request may not go out
    "dns",  # the name has no address, or the look-up took too long
    "connect",  # nothing listens there, or no route
    "tls",  # no trusted certificate for that name, or no TLS at all
    "timeout",  # the total deadline passed
    "too_large",  # more bytes than the caller takes
    "reset",  # the peer hung up in the middle
    "bad_response",  # what came is not what was asked for
    "redirect_refused",  # a redirect led where it may not lead
]
MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that got no usable answer. `sentence` may be shown to a person."""

    kind: FailureKind
    sentence: str


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response with any status. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)

    @property
    def ok(self) -> bool:
        """True for 200 to 299."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty if absent."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    @property
    def retry_after_s(self) -> int | None:
        """Seconds of a Retry-After given in seconds (RFC 9110, 10.2.3), at most a day; None for others."""
        text = self.headers.get("retry-after", "").strip()
        return min(int(text[:9]), 86_400) if text.isascii() and text.isdigit() else None

    def json(self) -> "Json | Failure":
        """The body read as JSON (RFC 8259), or why it is none."""
        return parse_json(self.body)


@dataclass(frozen=True, slots=True)
class Json:
    """A parsed JSON body; boxed so that no JSON value can be mistaken for a Failure."""

    value: Any = field(repr=False)


class BudgetExceeded(Exception):
    """The peer sent more bytes than this exchange takes."""


NETWORK_ERRORS = (OSError, HTTPException, HTTPError, BudgetExceeded)


def connect_failure(error: OSError, host: str) -> Failure:
    """The failure of a connection or of its encryption."""
    if isinstance(error, TimeoutError):
        return Failure("timeout", f"{host} did not answer in time. Try again later.")
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = (error.verify_message or marked("it is not trusted")).rstrip(".")
        return Failure("tls", f"The certificate of {host} was refused: {reason}. Its operator must renew it.")
    if isinstance(error, ssl.SSLError):
        return Failure("tls", f"{host} offers no secure connection on that port. Check the address.")
    if isinstance(error, ConnectionResetError):
        return _reset(host)
    return Failure("connect", f"{host} accepts no connection. Check the address, or try again later.")


def exchange_failure(error: Exception, host: str, max_bytes: int) -> Failure:
    """Why an exchange over a standing connection did not come to its end."""
    cause = error.args[-1] if isinstance(error, ProtocolError) and error.args else error
    if isinstance(error, ReadTimeoutError) or isinstance(cause, TimeoutError):
        return Failure("timeout", f"{host} did not finish its answer in time. Try again later.")
    if isinstance(error, BudgetExceeded):
        return too_large(host, max_bytes)
    if isinstance(error, DecodeError):
        return Failure("bad_response", f"{host} sent an answer that cannot be unpacked. Try again later.")
    if isinstance(cause, (BodyCutShort, IncompleteRead, RemoteDisconnected, OSError)):
        return _reset(host)
    return Failure("bad_response", f"{host} did not answer in HTTP. Check the address.")


def too_large(host: str, max_bytes: int) -> Failure:
    """The answer is larger than the caller takes."""
    return Failure("too_large", f"{host} sent more than {max_bytes:,} bytes, too much to be read. Try again later.")


def parse_json(body: bytes) -> Json | Failure:
    """Parse `body` strictly: UTF-8, no NaN, at most 100 levels deep."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _bad("The answer is not valid UTF-8 text. Check the address, or try again later.")
    if text.lstrip()[:1] == "<":
        return _bad("The server answered with a web page instead of JSON. Check the address.")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        return _bad("The answer is nested too deeply to be read. Check the address.")
    except ValueError:
        return _bad("The answer is not valid JSON. Check the address, or try again later.")
    if _deeper_than(value, MAX_DEPTH):
        return _bad("The answer is nested too deeply to be read. Check the address.")
    return Json(value)


def at_path(value: Any, path: str) -> Any:
    """The member of parsed JSON at a dotted path (`data.0.id`); None when any step is missing.

    An empty path is the value itself; a number steps into an array. A member of the whole name (`@odata.x`) is first.
    """
    whole = isinstance(value, dict) and path in value
    for step in [path] if whole else path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _reset(host: str) -> Failure:
    return Failure("reset", f"{host} broke the connection off. Try again later.")


def _bad(sentence: str) -> Failure:
    return Failure("bad_response", sentence)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


_UNREADABLE = Failure("bad_response", "The answer is not valid XML. Check the address, or try again later.")


def parse_xml(body: bytes, lists: Collection[str] = ()) -> Json | Failure:
    """The value of the root of ``body``. Elements whose names are in ``lists`` are a list even if they occur once."""
    if b"<!DOCTYPE" in body or b"\0" in body:  # UTF-16 could hide one, and nobody answers in it
        return _UNREADABLE
    parser = XMLParser()  # noqa: S314 - no entity can be declared without a document type
    try:
        parser.feed(body)
        root: Element = parser.close()
        return Json(_value(root, frozenset(lists), MAX_DEPTH))
    except (ParseError, RecursionError, ValueError, LookupError):
        return _UNREADABLE


def _value(element: Element, lists: frozenset[str], depth: int) -> Any:
    if depth == 0:
        raise RecursionError
    if len(element) == 0:
        return element.text or ""
    members: dict[str, Any] = {}
    for child in element:
        name, value = child.tag.rpartition("}")[2], _value(child, lists, depth - 1)
        if name in members and isinstance(members[name], list):
            members[name].append(value)
        elif name in members:
            members[name] = [members[name], value]
        else:
            members[name] = [value] if name in lists else value
    return members
