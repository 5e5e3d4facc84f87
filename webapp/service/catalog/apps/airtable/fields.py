"""A prop for each field of an Airtable table that can be written, and what was given for them.

The props are named by the ids of the fields, which stay the same when a field is renamed.
"""

from collections.abc import Callable, Mapping
from typing import Any

from webapp.service.catalog.shared.hints import number
from webapp.service.components.authoring import ComponentError, Context, Prop, boolean, integer, string, string_list

from .common import JsonObject, table


def field_props(ctx: Context) -> dict[str, Prop]:
    """A prop for each field of the chosen table that can be written."""
    if not ctx.props.base_id or not ctx.props.table_id:
        return {}
    fields = ((field, _KINDS.get(field["type"])) for field in table(ctx)["fields"])
    return {field["id"]: kind(field) for field, kind in fields if kind}


def field_values(ctx: Context) -> dict[str, Any]:
    """What the person gave for these props, as Airtable takes it. Raises :class:`ComponentError` for nothing."""
    types = {field["id"]: field["type"] for field in table(ctx)["fields"]}
    values = {name: value for name, value in ctx.extra.items() if name in types and value is not None}
    if not values:
        raise ComponentError("The record is empty. Fill in at least one field.")
    return {name: _WRITE.get(types[name], _as_is)(value) for name, value in values.items()}


def _as_is(value: Any) -> Any:
    return value


_WRITE: Mapping[str, Callable[[Any], Any]] = {
    "number": number,
    "currency": number,
    "percent": number,
    "multipleAttachments": lambda urls: [{"url": url} for url in urls],
}


def _asking(prop: Callable[..., Prop], description: str | None = None) -> Callable[[JsonObject], Prop]:
    return lambda field: prop(label=field["name"], description=description, optional=True)


def _choosing(prop: Callable[..., Prop]) -> Callable[[JsonObject], Prop]:
    return lambda field: prop(
        label=field["name"],
        options=[choice["name"] for choice in field.get("options", {}).get("choices", [])] or None,
        optional=True,
    )


# https://airtable.com/developers/web/api/field-model; what is not here is computed, or names a person.
_KINDS: Mapping[str, Callable[[JsonObject], Prop]] = {
    **dict.fromkeys(("singleLineText", "multilineText", "richText", "email", "url", "phoneNumber"), _asking(string)),
    **dict.fromkeys(("number", "currency"), _asking(string, "A number.")),
    "percent": _asking(string, "A number: 0.5 for 50 %."),
    "rating": _asking(integer),
    "duration": _asking(integer, "In seconds."),
    "checkbox": _asking(boolean),
    "date": _asking(string, "Such as 2026-05-31."),
    "dateTime": _asking(string, "Such as 2026-05-31T09:00:00Z."),
    "singleSelect": _choosing(string),
    "multipleSelects": _choosing(string_list),
    "multipleRecordLinks": _asking(string_list, "Ids of records, which begin with rec."),
    "multipleAttachments": _asking(string_list, "Public addresses of files."),
}
