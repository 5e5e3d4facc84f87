"""Reading an answer in XML as JSON has it: an element with children is an object, one without is its text.

Names lose their namespace, attributes are left out, and a name that stands several times becomes a list. A document
type is refused, so that nothing in an answer is expanded or fetched.
"""

from collections.abc import Collection
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser

from webapp.service.outbound.outcomes import MAX_DEPTH, Failure, Json

_UNREADABLE = Failure("bad_response", "The answer is not valid XML. Check the address, or try again later.")


def parse_xml(body: bytes, lists: Collection[str] = ()) -> Json | Failure:
    """What the root of ``body`` holds. Elements whose names are in ``lists`` are a list even where they stand once."""
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
