"""A prop for each property of a Notion database that a person can write, and what was given for them."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from webapp.service.catalog.shared.hints import number
from webapp.service.components.authoring import Context, Prop, boolean, string, string_list

from .common import JsonObject, rich_text


def property_props(source: JsonObject) -> dict[str, Prop]:
    """A prop for each property of a data source that a person can write."""
    return {name: kind.prop(property_) for name, property_, kind in _properties(source)}


def property_values(ctx: Context, source: JsonObject) -> dict[str, Any]:
    """What the person gave for these props, as Notion takes it, by the ids of the properties."""
    values = ((property_, kind, ctx.extra.get(name)) for name, property_, kind in _properties(source))
    return {
        property_["id"]: {property_["type"]: kind.write(value)}
        for property_, kind, value in values
        if value not in (None, "", [])
    }


class _Kind:
    """How one type of property is asked for, and written."""

    def __init__(self, prop: Callable[[JsonObject], Prop], write: Callable[[Any], Any] = lambda value: value) -> None:
        self.prop, self.write = prop, write


def _properties(source: JsonObject) -> Iterator[tuple[str, JsonObject, _Kind]]:
    """Name of the prop, property and kind, the title first."""
    for property_ in sorted(source["properties"].values(), key=lambda property_: property_["type"] != "title"):
        if kind := _KINDS.get(property_["type"]):
            # Ids hold characters that the name of a prop may not.
            yield (
                "property_" + re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}", property_["id"]),
                property_,
                kind,
            )


def _text(property_: JsonObject) -> Prop:
    return string(label=property_["name"], optional=True)


def _choosing(prop: Callable[..., Prop]) -> Callable[[JsonObject], Prop]:
    return lambda property_: prop(
        label=property_["name"],
        options=[choice["name"] for choice in property_[property_["type"]]["options"]] or None,
        optional=True,
    )


_KINDS = {
    "title": _Kind(lambda property_: string(label=property_["name"]), rich_text),
    "rich_text": _Kind(_text, rich_text),
    "number": _Kind(lambda property_: string(label=property_["name"], description="A number.", optional=True), number),
    "select": _Kind(_choosing(string), lambda value: {"name": value}),
    "status": _Kind(_choosing(string), lambda value: {"name": value}),
    "multi_select": _Kind(_choosing(string_list), lambda values: [{"name": value} for value in values]),
    "date": _Kind(
        lambda property_: string(label=property_["name"], description="Such as 2026-05-31.", optional=True),
        lambda value: {"start": value},
    ),
    "checkbox": _Kind(lambda property_: boolean(label=property_["name"], optional=True)),
    "url": _Kind(_text),
    "email": _Kind(_text),
    "phone_number": _Kind(_text),
}
