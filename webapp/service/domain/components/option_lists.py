"""The options of a prop as the wire has them (contract "Options"): from a component, or from its declaration."""

from collections.abc import Mapping
from typing import Any

from webapp.service.components.calls import Reply
from webapp.service.domain.components.prop_types import option_value

Prop = Mapping[str, Any]


def static(prop: Prop, query: str | None) -> dict[str, Any]:
    """The options that stand in the declaration, narrowed by ``query``."""
    wanted = (query or "").strip().casefold()
    found = [one for one in map(_option, prop["options"]) if wanted in one["label"].casefold()]
    return {"options": found, "stringOptions": None, "observations": [], "context": None, "errors": []}


def answer(prop: Prop, reply: Reply) -> dict[str, Any]:
    """What a component found."""
    if reply.error is not None:
        return failed(reply)
    found = reply.value
    options, texts = found.get("options"), found.get("string_options")
    return {
        "options": None if options is None else [_option(one) for one in options],
        "stringOptions": texts,
        **problems(reply),
        "context": found.get("context"),
    }


def failed(reply: Reply) -> dict[str, Any]:
    """No options, and why."""
    return {"options": None, "stringOptions": None, **problems(reply), "context": None}


def problems(reply: Reply) -> dict[str, Any]:
    """What went wrong, and what was logged."""
    return {
        "observations": [one.to_json() for one in reply.observations],
        "errors": [reply.error.message] if reply.error else [],
    }


def _option(found: Any) -> dict[str, Any]:
    """An option as an object with a label; a bare value is its own. Values are text, whole numbers or booleans."""
    value = option_value(found)
    inside = found.get("__lv", found) if isinstance(found, dict) else {}
    label = inside.get("label") if isinstance(inside, dict) else None
    if not isinstance(value, str | int):
        value = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return {"label": str(value if label is None else label), "value": value}
