"""The arguments of a tool as JSON Schema 2020-12, drawn from the props of its action (contract "Agents").

Only what strict clients take stands in it: an object without references, types by one word, lists with their items.
What nobody is asked for, and what is hidden or cannot be changed, is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.components.tool_names import CONFIGURATION, OPTIONS
from webapp.service.domain.components.prop_checks import METHODS, NEVER_ASKED, option_value
from webapp.service.domain.components.prop_values import is_required

Prop = Mapping[str, Any]
Schema = dict[str, Any]
MAX_CHOICES = 200
"""So many options stand in a schema; more are looked up."""
DYNAMIC_PROPS_ID = "dynamic_props_id"
_TEXT: Schema = {"type": "string"}
_NAMED_VALUES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": _TEXT, "value": _TEXT},
        "required": ["name", "value"],
        "additionalProperties": False,
    },
}
_SQL: Schema = {
    "type": "object",
    "properties": {"query": _TEXT, "params": {"type": "array", "items": _TEXT}},
    "required": ["query"],
    "additionalProperties": False,
}
_HTTP_REQUEST: Schema = {
    "type": "object",
    "properties": {
        "method": {"type": "string", "enum": sorted(METHODS)},
        "url": _TEXT,
        "headers": _NAMED_VALUES,
        "params": _NAMED_VALUES,
        "body": {"type": "object", "additionalProperties": True},
    },
    "required": ["url"],
    "additionalProperties": False,
}
_TYPES: Mapping[str, Schema] = {
    "string": _TEXT,
    "string[]": {"type": "array", "items": _TEXT},
    "integer": {"type": "integer"},
    "integer[]": {"type": "array", "items": {"type": "integer"}},
    "boolean": {"type": "boolean"},
    "object": {"type": "object", "additionalProperties": True},
    "any": {},
    "sql": _SQL,
    "http_request": _HTTP_REQUEST,
    "data_store": _TEXT,
    "$.discord.channel[]": {"type": "array", "items": _TEXT},
}
_UNASKED = NEVER_ASKED | {"app"}


def input_schema(props: Sequence[Prop], *, reloads: bool) -> Schema:
    """The arguments of an action with these ``props``; ``reloads``: further ones follow from the values."""
    shown = [prop for prop in props if is_asked(prop)]
    properties = {prop["name"]: _property(prop) for prop in shown}
    if reloads:
        told = f"What {CONFIGURATION} answered, where this tool takes arguments beyond those that stand here."
        properties[DYNAMIC_PROPS_ID] = {"type": "string", "description": told}
    required = [prop["name"] for prop in shown if is_required(prop) and prop.get("default") is None]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": reloads,
    }


def is_asked(prop: Prop) -> bool:
    """Whether an agent may give a value for ``prop``, other than an account."""
    return prop["type"] not in _UNASKED and not any(prop.get(flag) for flag in ("hidden", "disabled", "readOnly"))


def has_lookup(prop: Prop) -> bool:
    """Whether the values of ``prop`` are to be looked up."""
    return bool(is_asked(prop) and (prop.get("remoteOptions") or len(prop.get("options") or ()) > MAX_CHOICES))


def _property(prop: Prop) -> Schema:
    schema = dict(_TYPES.get(prop["type"], _TEXT))
    title = prop.get("label")
    options = [] if prop.get("remoteOptions") else prop.get("options") or []
    if 0 < len(options) <= MAX_CHOICES and prop["type"] != "any":
        choices = {"enum": list(dict.fromkeys(option_value(option) for option in options))}
        schema |= {"items": schema["items"] | choices} if "items" in schema else choices
    bounds = {"minimum": prop.get("min"), "maximum": prop.get("max")}
    limits = {name: value for name, value in bounds.items() if value is not None}
    schema |= {"items": schema["items"] | limits} if "items" in schema else limits
    words = (prop.get("description"), _labels(options), _lookup(prop), _file(prop))
    description = " ".join(text for text in words if text)
    return {
        **schema,
        **({"title": title} if title else {}),
        **({"description": description} if description else {}),
        **({"default": prop["default"]} if prop.get("default") is not None else {}),
    }


def _labels(options: Sequence[Any]) -> str:
    """What the choices mean, where a value does not say it."""
    pairs = [(option_value(option), option.get("label")) for option in options if isinstance(option, dict)]
    told = [f"{value}: {label}" for value, label in pairs if label and str(label) != str(value)]
    return f"One of {'; '.join(told)}." if 0 < len(told) <= MAX_CHOICES else ""


def _lookup(prop: Prop) -> str:
    return f"Look values up with {OPTIONS} (prop {prop['name']})." if has_lookup(prop) else ""


def _file(prop: Prop) -> str:
    return "The address of a file." if prop.get("format") == "file-ref" else ""
