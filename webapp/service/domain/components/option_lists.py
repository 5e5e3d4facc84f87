"""The options of a prop as the wire has them (contract "Options"): from a component, or from its declaration."""

from collections.abc import Mapping
from typing import Any

from webapp.service.components.calls import Reply
from webapp.service.domain.components.prop_types import option_value

Prop = Mapping[str, Any]


def static(prop: Prop, query: str | None) -> dict[str, Any]:
    """The options that stand in the declaration, narrowed by ``query``."""
    part_of_label = (query or "").strip().casefold()
    options = [option for option in map(_option, prop["options"]) if part_of_label in option["label"].casefold()]
    return {"options": options, "stringOptions": None, "observations": [], "context": None, "errors": []}


def answer(prop: Prop, reply: Reply) -> dict[str, Any]:
    """What a component found."""
    if reply.error is not None:
        return failed(reply)
    answer = reply.value
    options, texts = answer.get("options"), answer.get("string_options")
    return {
        "options": None if options is None else [_option(option) for option in options],
        "stringOptions": texts,
        **problems(reply),
        "context": answer.get("context"),
    }


def failed(reply: Reply) -> dict[str, Any]:
    """No options, and why."""
    return {"options": None, "stringOptions": None, **problems(reply), "context": None}


def problems(reply: Reply) -> dict[str, Any]:
    """What went wrong, and what was logged."""
    return {
        "observations": [line.to_json() for line in reply.observations],
        "errors": [reply.error.message] if reply.error else [],
    }


def _option(option: Any) -> dict[str, Any]:
    """An option as an object with a label; a bare value is its own. Values are text, whole numbers or booleans."""
    value = option_value(option)
    inside = option.get("__lv", option) if isinstance(option, dict) else {}
    label = inside.get("label") if isinstance(inside, dict) else None
    if not isinstance(value, str | int):
        value = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return {"label": str(value if label is None else label), "value": value}
