"""JSON Schema as OpenAPI writes it, reduced to what a form can ask for (:class:`Shape`), and a shape as a prop of a
form.

``allOf`` is merged, ``oneOf`` and ``anyOf`` keep what all their members share, and cycles end as "anything". Only
what a form needs is read; the provider itself judges what is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.documents import Refs, Unresolved

Kind = Literal["any", "array", "boolean", "file", "integer", "number", "object", "string"]
_DEEPEST = 12  # allOf within oneOf within …
_MOST_MEMBERS = 400
_SCALARS = frozenset({"boolean", "integer", "number", "string"})
_CHOICES = ("oneOf", "anyOf")
_OF_TYPE = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
_NUMBER_PATTERN = {"pattern": r"-?\d+(\.\d+)?([eE]-?\d+)?", "advice": "Write a number, such as 12.5."}
_LARGEST_INTEGER = 2**53
_MOST_OPTIONS = 1000
_LIST_TYPES = {"string": "string[]", "integer": "integer[]"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value looks like. ``members`` are the schemas of an object's members, ``items`` that of a list's items.

    ``options`` are the values to choose from and how each is called. ``constant`` is the one value that there can be.
    ``closed``: an object has no members but those that are named.
    """

    kind: Kind = "any"
    description: str = ""
    options: tuple[tuple[Any, str], ...] = ()
    default: Any = None
    minimum: Any = None
    maximum: Any = None
    format: str = ""
    constant: Any = None
    read_only: bool = False
    deprecated: bool = False
    closed: bool = True
    members: Mapping[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    items: Any = None


def shape(refs: Refs, node: Any) -> Shape:
    """The shape that the schema ``node`` has. Raises :class:`Unresolved`."""
    flat = _flat(refs, node, 0)
    kind, options = _kind(flat), _options(flat)
    values = [value for value, _ in options]
    constant = flat.get("const", values[0] if len(values) == 1 and len(flat.get("enum", ())) == 1 else None)
    members = flat.get("properties")
    required = flat.get("required")
    return Shape(
        kind=kind,
        description=flat.get("description") or flat.get("title") or "",
        options=options,
        default=flat.get("default"),
        minimum=flat.get("minimum"),
        maximum=flat.get("maximum"),
        format=str(flat.get("format", "")),
        constant=constant,
        read_only=flat.get("readOnly") is True,
        deprecated=flat.get("deprecated") is True,
        closed=flat.get("additionalProperties") in (None, False),
        members=dict(list(members.items())[:_MOST_MEMBERS]) if isinstance(members, Mapping) else {},
        required=frozenset(map(str, required)) if isinstance(required, list) else frozenset(),
        items=flat.get("items"),
    )


def _flat(refs: Refs, node: Any, depth: int) -> dict[str, Any]:
    """``node`` as one schema without parts."""
    if depth > _DEEPEST:
        return {}
    node = refs.follow(node)
    if not isinstance(node, Mapping):
        return {}
    refs.count(len(node) + len(_object(node.get("properties"))))
    flat: dict[str, Any] = {}
    for part in _nodes(node.get("allOf")):
        flat = _both(flat, _flat(refs, part, depth + 1))
        refs.count(len(_object(flat.get("properties"))))
    flat = _both(flat, {name: value for name, value in node.items() if name not in ("allOf", *_CHOICES)})
    for choice in _CHOICES:
        if variants := _nodes(node.get(choice)):
            flat = _both(_common([_flat(refs, variant, depth + 1) for variant in variants]), flat)
    return flat


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """What holds to two schemas; of what both say, the second counts."""
    merged = {**first, **second}
    if isinstance(first.get("properties"), Mapping) or isinstance(second.get("properties"), Mapping):
        merged["properties"] = {**_object(first.get("properties")), **_object(second.get("properties"))}
    if first.get("required") or second.get("required"):
        names = [*_nodes(first.get("required")), *_nodes(second.get("required"))]
        merged["required"] = list(dict.fromkeys(str(name) for name in names))
    return merged


def _common(variants: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a value of any of ``variants`` may be; nothing is said where they differ too much."""
    variants = [each for each in variants if _types(each) != ["null"] and each.get("enum") not in ([""], [None])]
    if len(variants) == 1:
        return dict(variants[0])
    kinds = {_kind(each) for each in variants}
    if kinds == {"object"}:
        return _either_object(variants)
    if len(kinds) == 1 and kinds <= _SCALARS:
        return _either_scalar(kinds.pop(), variants)
    if kinds == {"integer", "number"}:
        return {"type": "number"}
    lists = [each for each in variants if _kind(each) == "array"]
    if len(lists) == 1 and {_kind(_object(lists[0].get("items")))} == kinds - {"array"}:
        return dict(lists[0])  # one or several: several may be one
    return {}


def _either_object(variants: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for variant in variants:
        for name, schema in _object(variant.get("properties")).items():
            known = _object(properties.get(name))
            if "enum" in known and "enum" in _object(schema):
                values = [*_nodes(known["enum"]), *_nodes(schema["enum"])]
                scalars = {(type(value), value): value for value in values if not isinstance(value, list | dict)}
                properties[name] = {**known, "enum": list(scalars.values())}
            else:
                properties.setdefault(name, schema)
    required = set.intersection(*(set(map(str, _nodes(each.get("required")))) for each in variants))
    open_ = any(each.get("additionalProperties") not in (None, False) for each in variants)
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(required),
        **({"additionalProperties": True} if open_ else {}),
    }


def _either_scalar(kind: str, variants: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [each.get("enum", [each["const"]] if "const" in each else None) for each in variants]
    if any(not isinstance(each, list) for each in values):
        return {"type": kind}
    return {"type": kind, "enum": [value for each in values for value in each or ()]}


def _kind(flat: Mapping[str, Any]) -> Kind:
    types = [name for name in _types(flat) if name != "null"]
    if not types:
        types = _implied(flat)
    if set(types) == {"integer", "number"}:
        return "number"
    if len(types) != 1:
        return "any"
    name = types[0]
    binary = flat.get("format") == "binary" or ("contentMediaType" in flat and "contentEncoding" not in flat)
    if name == "file" or (name == "string" and binary):
        return "file"
    known: tuple[Kind, ...] = ("array", "boolean", "integer", "number", "object", "string")
    return next((kind for kind in known if kind == name), "any")


def _types(flat: Mapping[str, Any]) -> list[str]:
    types = flat.get("type")
    return [str(name) for name in types] if isinstance(types, list) else [types] if isinstance(types, str) else []


def _implied(flat: Mapping[str, Any]) -> list[str]:
    """The type of a schema that does not say it."""
    if "properties" in flat or "additionalProperties" in flat:
        return ["object"]
    if "items" in flat:
        return ["array"]
    values = [value for value in [*_nodes(flat.get("enum")), flat.get("const")] if value is not None]
    types = {_OF_TYPE.get(type(value), "") for value in values}
    if len(types) == 1:
        return sorted(types)
    return ["string"] if flat.get("format") and not values else []


def _options(flat: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    values = _nodes(flat.get("enum"))
    written = _nodes(flat.get("x-enumNames")) or _nodes(flat.get("x-enum-varnames"))
    names = [str(name) for name in (written if len(written) == len(values) else values)]
    chosen = dict[Any, str]()
    for value, name in zip(values, names, strict=True):
        if isinstance(value, str | int | float) and value != "":
            chosen.setdefault(value, name)
    return tuple(chosen.items())


def _nodes(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


__all__ = ["Kind", "Shape", "Unresolved", "shape"]


@dataclass(frozen=True, slots=True)
class Value:
    """A prop without its name; ``filters`` stand in its hole."""

    fields: Mapping[str, Any]
    filters: str = ""

    def hole(self, name: str) -> str:
        """The template with its value, once it is called ``name``."""
        return f"{{{name}{self.filters}}}"


def value(refs: Refs, wanted: Shape, label: str, *, required: bool, description: str = "") -> Value:
    """The prop that asks for ``wanted``. Raises :class:`~.schemas.Unresolved`."""
    fields, filters, note = _typed(refs, wanted)
    about = " ".join(part for part in (words.one_sentence(description or wanted.description), note) if part)
    shown = {"label": label, **({"description": about} if about else {}), **({} if required else {"optional": True})}
    default = _default(fields, wanted)
    return Value({"type": fields["type"], **shown, **fields, **default}, filters)


def _typed(refs: Refs, wanted: Shape) -> tuple[dict[str, Any], str, str]:
    """The fields of its type, the filters of its hole, and what a person should know."""
    if wanted.kind == "string":
        return {"type": "string", **_prop_options(wanted, str), **_secret(wanted)}, "", _example(wanted.format)
    if wanted.kind == "integer":
        return {"type": "integer", **_prop_options(wanted, int), **_limits(wanted)}, "", ""
    if wanted.kind == "number":
        options = [str(number) for number, _ in wanted.options]
        return {"type": "string", **({"options": options} if options else _NUMBER_PATTERN)}, "|number", ""
    if wanted.kind == "boolean":
        return {"type": "boolean"}, "", ""
    if wanted.kind == "file":
        return {"type": "string", "format": "file-ref"}, "", ""
    if wanted.kind == "array":
        return _list(refs, wanted)
    if wanted.kind == "object":
        return {"type": "object"}, "", ""
    return {"type": "any"}, "", ""


def _list(refs: Refs, wanted: Shape) -> tuple[dict[str, Any], str, str]:
    item = shape(refs, wanted.items) if isinstance(wanted.items, Mapping) else Shape()
    if item.kind in _LIST_TYPES:
        return {"type": _LIST_TYPES[item.kind], **_prop_options(item, str if item.kind == "string" else int)}, "", ""
    members = ", ".join(list(item.members)[:6])
    note = f"A JSON list of objects with {members}." if members else "A JSON list."
    return {"type": "any"}, "", note


def _prop_options(wanted: Shape, type_: type) -> dict[str, Any]:
    options = [(option, label) for option, label in wanted.options if type(option) is type_][:_MOST_OPTIONS]
    if not options:
        return {}
    plain = all(str(option) == label for option, label in options)
    return {
        "options": [option if plain else {"label": label or str(option), "value": option} for option, label in options]
    }


def _limits(wanted: Shape) -> dict[str, int]:
    limits = {"min": wanted.minimum, "max": wanted.maximum}
    kept = {name: int(limit) for name, limit in limits.items() if _is_whole(limit)}
    return kept if len(kept) < 2 or kept["min"] <= kept["max"] else {}


def _is_whole(limit: Any) -> bool:
    number = isinstance(limit, int | float) and not isinstance(limit, bool)
    return number and abs(limit) < _LARGEST_INTEGER and int(limit) == limit


def _secret(wanted: Shape) -> dict[str, Any]:
    return {"secret": True} if wanted.format == "password" else {}


def _example(format_: str) -> str:
    return {
        "date-time": "A time, such as 2026-11-22T09:30:00Z.",
        "date": "A day, such as 2026-11-22.",
        "byte": "Content in Base64.",
    }.get(format_, "")


def _default(fields: Mapping[str, Any], wanted: Shape) -> dict[str, Any]:
    """The default, if it is one that a prop of this type may have."""
    default: Any = wanted.default
    type_ = fields["type"]
    if fields.get("secret") or fields.get("format"):
        return {}
    if fields.get("pattern") and isinstance(default, int | float) and not isinstance(default, bool):
        default = str(default)
    fits = {"string": str, "integer": int, "boolean": bool}.get(type_)
    if fits is None or type(default) is not fits or default == "":
        return {}
    values = [option["value"] if isinstance(option, dict) else option for option in fields.get("options", ())]
    if (values and default not in values) or (isinstance(default, int) and abs(default) >= _LARGEST_INTEGER):
        return {}
    return {"default": default}
