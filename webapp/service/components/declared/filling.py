"""Filling JSON whose texts are templates: what a request sends, and what a component gives back."""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.components.declared.templates import Scope, parse

EMPTY: tuple[Any, ...] = (None, "", [], {})
"""What counts as no value."""


def shape(value: Any, scope: Scope) -> Any:
    """``value``, any JSON with templates for its texts, filled; what comes to nothing is null."""
    if isinstance(value, str):
        return parse(value).value(scope)
    if isinstance(value, Mapping):
        return {name: shape(member, scope) for name, member in value.items()}
    return [shape(item, scope) for item in value] if isinstance(value, Sequence) else value


def fill(value: Any, scope: Scope) -> Any:
    """As :func:`shape`, but that what comes to nothing is left out around it.

    None and an empty text are nothing, and so are a list and an object of which all came to nothing. What stands there
    empty stays, and so does an empty list or object that a hole gives.
    """
    if isinstance(value, str):
        return parse(value).value(scope)
    if isinstance(value, Mapping):
        filled = {name: fill(member, scope) for name, member in value.items()}
        return _kept(value, {name: member for name, member in filled.items() if _stays(value[name], member)})
    if isinstance(value, Sequence):
        filled_items = [(item, fill(item, scope)) for item in value]
        return _kept(value, [item for written, item in filled_items if _stays(written, item)])
    return value


def _stays(written: Any, filled: Any) -> bool:
    return filled not in (None, "") or written in EMPTY


def _kept(written: Any, filled: Any) -> Any:
    """``filled``; None where everything that was written came to nothing."""
    return None if written and not filled else filled
