"""Parses the bodies of responses, and encodes those of requests with files (:func:`encode_multipart`).

Responses are JSON, or XML in the form of JSON. An HTML page, broken UTF-8 or deep nesting is a :class:`Failure`.

An XML element with children is an object, one without is its text. Names lose their namespace, attributes are dropped,
and a name that occurs several times becomes a list. A document type is refused, so that no entity is expanded or
fetched.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser

from urllib3.fields import RequestField
from urllib3.filepost import encode_multipart_formdata

from webapp.service.outbound.failures import Failure

MAX_DEPTH = 100
_UNREADABLE = Failure("bad_response", "The answer is not valid XML. Check the address, or try again later.")


@dataclass(frozen=True, slots=True)
class Json:
    """A parsed JSON body; boxed so that no JSON value can be mistaken for a Failure."""

    value: Any = field(repr=False)


def parse_json(body: bytes) -> Json | Failure:
    """Parse ``body`` strictly: UTF-8, no NaN, at most 100 levels deep."""
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
    """The member of parsed JSON at a dotted path (``data.0.id``); None when any step is missing.

    An empty path is the value itself; a number steps into an array. A member of the whole name (``@odata.x``) is first.
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


def encode_multipart(parts: Sequence[tuple[str, str | None, bytes]]) -> tuple[bytes, str]:
    """Body and media type for ``parts``: the name of each, its file name if it is a file, and its content."""
    return encode_multipart_formdata([_field(*part) for part in parts])


def _field(name: str, file_name: str | None, content: bytes) -> RequestField | tuple[str, bytes]:
    return (name, content) if file_name is None else RequestField.from_tuples(name, (file_name, content))
