"""The default of a piece's prop, where it is one that a prop of the wire may have."""

from collections.abc import Mapping
from typing import Any

from webapp.service.components.pieces.choices import encoded

_SAFE = 2**53
_LEFT_ALONE: Mapping[str, Any] = {"boolean": False, "object": {}}
"""What a form of the framework sends where a person leaves a required field of that kind alone."""


def default(prop: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """The ``default`` of the wire's ``prop``, or nothing."""
    value = described.get("defaultValue")
    if value is None and described.get("required") is True:
        value = _LEFT_ALONE.get(prop["type"])
    if value is None or prop.get("secret") or prop.get("format"):
        return {}
    value = _fitting(prop["type"], value)
    if value is None or (value in ("", [], {}) and prop.get("optional")) or not _is_offered(prop, value):
        return {}
    return {"default": value}


def _fitting(type_: str, value: Any) -> Any:
    """``value`` as one of the type; None where it is none."""
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
