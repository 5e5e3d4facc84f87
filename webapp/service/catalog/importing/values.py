"""A shape as a prop of a form, and how its value is written into a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.refs import Refs
from webapp.service.catalog.importing.schemas import Shape, shape

_NUMBER = {"pattern": r"-?\d+(\.\d+)?([eE]-?\d+)?", "advice": "Write a number, such as 12.5."}
_LARGEST = 2**53
_MOST_OPTIONS = 1000
_LISTS = {"string": "string[]", "integer": "integer[]"}


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
        return {"type": "string", **_options(wanted, str), **_secret(wanted)}, "", _example(wanted.format)
    if wanted.kind == "integer":
        return {"type": "integer", **_options(wanted, int), **_limits(wanted)}, "", ""
    if wanted.kind == "number":
        options = [str(number) for number, _ in wanted.options]
        return {"type": "string", **({"options": options} if options else _NUMBER)}, "|number", ""
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
    if item.kind in _LISTS:
        return {"type": _LISTS[item.kind], **_options(item, str if item.kind == "string" else int)}, "", ""
    members = ", ".join(list(item.members)[:6])
    note = f"A JSON list of objects with {members}." if members else "A JSON list."
    return {"type": "any"}, "", note


def _options(wanted: Shape, type_: type) -> dict[str, Any]:
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
    return number and abs(limit) < _LARGEST and int(limit) == limit


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
    if (values and default not in values) or (isinstance(default, int) and abs(default) >= _LARGEST):
        return {}
    return {"default": default}
