"""Numbers that apps and people write as text."""

import math
from typing import Any


def number(value: Any) -> Any:
    """``value`` as a number; what is none stays as it is."""
    try:
        parsed = float(value)
    except (TypeError, ValueError):
        return value
    if not math.isfinite(parsed):
        return value
    return int(parsed) if parsed.is_integer() else parsed


def plus(value: Any, other: Any) -> Any:
    """Both together. Raises ``TypeError`` where one is no number."""
    return sum((number(value), number(other)))
