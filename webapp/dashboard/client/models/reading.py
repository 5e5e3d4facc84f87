"""Reading JSON of a Connect service leniently: what is missing, or of another kind, is empty."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]


def text(data: Json, key: str) -> str:
    """The string at ``key``; else ""."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def maybe(data: Json, key: str) -> str | None:
    """The string at ``key``; None for an empty one too."""
    return text(data, key) or None


def number(data: Json, key: str) -> int | None:
    """The whole number at ``key``."""
    value = data.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(data: Json, key: str) -> dict[str, Any]:
    """The object at ``key``; else an empty one."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def texts(value: object) -> tuple[str, ...]:
    """The strings in a list."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def objects(value: object) -> tuple[dict[str, Any], ...]:
    """The objects in a list."""
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
