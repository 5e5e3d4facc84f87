"""A prop for each property of a Notion database that a person can write, and what was given for them."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import number
from webapp.service.components.authoring import Context, Prop, boolean, string, string_list

from .common import Found, rich_text


def property_props(ctx: Context) -> dict[str, Prop]:
    """A prop for each property of the chosen database that a person can write."""
    return {name: kind.prop(one) for name, one, kind in _properties(ctx)} if ctx.props.database_id else {}


def property_values(ctx: Context) -> dict[str, Any]:
    """What the person gave for these props, as Notion takes it, by the ids of the properties."""
    values = ((one, kind, ctx.extra.get(name)) for name, one, kind in _properties(ctx))
    return {one["id"]: {one["type"]: kind.write(value)} for one, kind, value in values if value not in (None, "", [])}


class _Kind:
    """How one type of property is asked for, and written."""

    def __init__(self, prop: Callable[[Found], Prop], write: Callable[[Any], Any] = lambda value: value) -> None:
        self.prop, self.write = prop, write


def _properties(ctx: Context) -> Iterator[tuple[str, Found, _Kind]]:
    """Name of the prop, property and kind, the title first."""
    database = ctx.http.get(f"/v1/databases/{quote(ctx.props.database_id, safe='')}").json()
    for one in sorted(database["properties"].values(), key=lambda one: one["type"] != "title"):
        if kind := _KINDS.get(one["type"]):
            # Ids hold characters that the name of a prop may not.
            yield "property_" + re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}", one["id"]), one, kind


def _text(one: Found) -> Prop:
    return string(label=one["name"], optional=True)


def _choosing(prop: Callable[..., Prop]) -> Callable[[Found], Prop]:
    return lambda one: prop(
        label=one["name"], options=[choice["name"] for choice in one[one["type"]]["options"]] or None, optional=True
    )


_KINDS = {
    "title": _Kind(lambda one: string(label=one["name"]), rich_text),
    "rich_text": _Kind(_text, rich_text),
    "number": _Kind(lambda one: string(label=one["name"], description="A number.", optional=True), number),
    "select": _Kind(_choosing(string), lambda value: {"name": value}),
    "status": _Kind(_choosing(string), lambda value: {"name": value}),
    "multi_select": _Kind(_choosing(string_list), lambda values: [{"name": one} for one in values]),
    "date": _Kind(
        lambda one: string(label=one["name"], description="Such as 2026-05-31.", optional=True),
        lambda value: {"start": value},
    ),
    "checkbox": _Kind(lambda one: boolean(label=one["name"], optional=True)),
    "url": _Kind(_text),
    "email": _Kind(_text),
    "phone_number": _Kind(_text),
}
