"""Translates the props in a piece's description to props of the API, with defaults, and expands dynamic ones."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.service.components.pieces import texts, values
from webapp.service.components.pieces.form import ComponentFile, ValueKind
from webapp.service.components.pieces.values import encoded, field_name
from webapp.service.components.props import JSON

_SAFE = 2**53
# What a form of the framework sends for a required field that the person has not touched.
_LEFT_ALONE: Mapping[str, Any] = {"boolean": False, "object": {}}
_PLAIN: Mapping[str, tuple[str, ValueKind]] = {
    "SHORT_TEXT": ("string", "same"),
    "LONG_TEXT": ("string", "same"),
    "SECRET_TEXT": ("string", "same"),
    "COLOR": ("string", "same"),
    "DATE_TIME": ("string", "date"),
    "FILE": ("string", "file"),
    "CHECKBOX": ("boolean", "same"),
    "OBJECT": ("object", "same"),
    "JSON": ("string", "json"),
    "CUSTOM": ("string", "json"),
    "DROPDOWN": ("string", "choice"),
    "MULTI_SELECT_DROPDOWN": ("string[]", "choices"),
}
_ALERTS = {"INFO": "info", "TIP": "info", "WARNING": "warning", "ERROR": "error", "BORDERLESS": "neutral"}
_MORE: Mapping[str, str] = {
    "date": "A time, such as 2026-11-22T09:30:00Z.",
    "number": "A number, such as 12.5.",
    "json": "JSON, such as an object or a list.",
}
_DRAWN_BY_ITSELF = "The integration has a control of its own for it, which is not drawn here: write a text, or JSON."
_FRACTIONS = re.compile(
    r"price|amount|cost|rate\b|ratio|percent|temperature|latitude|longitude|decimal|fraction|weight|score|probab"
    r"|penalty|discount|\bfee\b|\btax\b|total|balance|budget|value|threshold|top.?p\b",
    re.IGNORECASE,
)


def default(prop: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """The ``default`` of the API's ``prop`` as a dict, which is empty without one."""
    value = described.get("defaultValue")
    if value is None and described.get("required") is True:
        value = _LEFT_ALONE.get(prop["type"])
    if value is None or prop.get("secret") or prop.get("format") == "file-ref":
        return {}
    if prop.get("format") == JSON and not isinstance(value, str):
        return {} if value in ([], {}) and prop.get("optional") else {"default": json.dumps(value)}
    value = _fitting(prop["type"], value)
    if value is None or (value in ("", [], {}) and prop.get("optional")) or not _is_offered(prop, value):
        return {}
    return {"default": value}


def _fitting(type_: str, value: Any) -> Any:
    """``value`` converted to the type; None if it does not fit."""
    if type_.endswith("[]"):
        items = [_fitting(type_.removesuffix("[]"), item) for item in value] if isinstance(value, list) else [None]
        return None if None in items else items
    if type_ == "boolean":
        return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).lower())
    if type_ == "integer":
        return _whole(value)
    if type_ == "object":
        return value if isinstance(value, dict) else None
    if type_ == "string":
        return (
            value if isinstance(value, str) else encoded(value) if isinstance(value, dict | list) else _written(value)
        )
    return value


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if abs(number) < _SAFE and number == int(number) else None


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_offered(prop: Mapping[str, Any], value: Any) -> bool:
    if prop["type"] == "integer" and not prop.get("min", value) <= value <= prop.get("max", value):
        return False
    offered = [option["value"] for option in prop.get("options", ())]
    chosen = value if isinstance(value, list) else [value]
    return not offered or all(item in offered for item in chosen)


@dataclass(frozen=True, slots=True)
class Mapped:
    """A prop of the API, and how its value becomes the piece's."""

    prop: dict[str, Any]
    kind: ValueKind
    members: dict[str, ValueKind] = field(default_factory=dict)


def mapped(name: str, described: Mapping[str, Any], *, is_field: bool = False) -> Mapped | None:
    """The prop ``described``, called ``name`` in the API; None for an unsupported type.

    ``is_field`` says that it is a field of a ``DYNAMIC`` prop.
    """
    kind = described.get("type")
    if kind == "MARKDOWN":
        content = texts.plain(described.get("description"))
        if not content:
            return None
        shown = _ALERTS.get(str(described.get("variant") or "INFO"), "info")
        return Mapped({"name": name, "type": "alert", "content": content, "alertType": shown}, "same")
    typed = _typed(described, is_field=is_field)
    if typed is None:
        return None
    own, value_kind, members = typed
    prop = {"name": name, "type": own["type"], **_said(name, described, value_kind, members), **own}
    return Mapped({**prop, **default(prop, described)}, value_kind, members)


def reloaded(file: ComponentFile, described: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The value of the Reply to a reload: all props of a component, the fields of dynamic props last.

    ``described`` are the fields that the piece returned, by its own names of the dynamic props and of the fields.
    """
    props = [prop.model_dump() for prop in file.declaration.configurable_props]
    for wire, own in file.piece.dynamic.items():
        fields = described.get(own)
        for name, each in fields.items() if isinstance(fields, Mapping) else ():
            field_prop = mapped(wire, each, is_field=True) if isinstance(each, Mapping) else None
            if field_prop is not None:
                props.append({**field_prop.prop, "name": field_name(wire, name, field_prop.kind)})
    return props


def _typed(
    described: Mapping[str, Any], *, is_field: bool
) -> tuple[dict[str, Any], ValueKind, dict[str, ValueKind]] | None:
    """The type's own fields, the kind of the value, and the kinds of the members of each row."""
    kind = str(described.get("type"))
    if kind == "NUMBER":
        return _number(described, decimal=is_field)
    if kind == "ARRAY":
        return _array(described)
    if kind in ("STATIC_DROPDOWN", "STATIC_MULTI_SELECT_DROPDOWN"):
        type_, options = values.static(described.get("options"))
        several = kind != "STATIC_DROPDOWN"
        if several and type_ == "boolean":
            type_, options = "string", [{**each, "value": values.encoded(each["value"])} for each in options]
        return (
            {"type": f"{type_}[]" if several else type_, **({"options": options} if options else {})},
            "choices" if several else "choice",
            {},
        )
    if kind not in _PLAIN:
        return None
    type_, value_kind = _PLAIN[kind]
    own: dict[str, Any] = {"type": type_}
    own |= {"secret": True} if kind == "SECRET_TEXT" else {}
    own |= {"format": "file-ref"} if kind == "FILE" else {"format": JSON} if value_kind == "json" else {}
    if value_kind in ("choice", "choices") and (described.get("hasOptions") or not is_field):
        own |= {
            "remoteOptions": True,
            "withLabel": True,
        }  # values may be secret, such as tokens
        own |= {"useQuery": True} if described.get("refreshOnSearch") else {}
    return own, value_kind, {}


def _number(described: Mapping[str, Any], *, decimal: bool) -> tuple[dict[str, Any], ValueKind, dict[str, ValueKind]]:
    """An integer; text if it may have a fraction, which no prop type of the API supports."""
    bounds, default = [described.get(name) for name in ("min", "max", "step")], described.get("defaultValue")
    fractions = any(isinstance(number, float) and not number.is_integer() for number in (*bounds, default))
    named = _FRACTIONS.search(str(described.get("displayName") or ""))
    likely = named or (decimal and not _is_whole(default))  # a whole default of a price does not rule out fractions
    if fractions or (likely and not any(_is_whole(bound) for bound in bounds)):
        return {"type": "string"}, "number", {}
    limits = {name: int(described[name]) for name in ("min", "max") if _is_whole(described.get(name))}
    kept = limits if len(limits) < len(("min", "max")) or limits["min"] <= limits["max"] else {}
    return {"type": "integer", **kept}, "whole", {}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _SAFE and value == int(value)


def _array(described: Mapping[str, Any]) -> tuple[dict[str, Any], ValueKind, dict[str, ValueKind]]:
    """A list of strings; with properties, a list of objects."""
    properties = described.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return {"type": "string[]"}, "list", {}
    members: dict[str, ValueKind] = {}
    for name, each in properties.items():
        typed = _typed(each, is_field=False) if isinstance(each, Mapping) else None
        members[str(name)] = "number" if typed and typed[1] == "whole" else typed[1] if typed else "same"
    return {"type": "string", "format": JSON}, "rows", members


def _said(name: str, described: Mapping[str, Any], kind: ValueKind, members: Mapping[str, ValueKind]) -> dict[str, Any]:
    """The label and description, and whether it is optional."""
    label = texts.line(described.get("displayName"), 200) or texts.label(name)
    more = f"A JSON list of objects with {', '.join(list(members)[:12])}." if members else _MORE.get(kind, "")
    more = _DRAWN_BY_ITSELF if described.get("type") == "CUSTOM" else more
    description = texts.plain(described.get("description"))
    about = f"{texts.ended(description)} {more}" if description and more else description or more
    fields: dict[str, Any] = {"label": label, "description": about} if about else {"label": label}
    return fields if described.get("required") is True else {**fields, "optional": True}
