"""What a piece offers to choose from, as options of the wire, whose values are text, whole numbers or booleans.

Any other value travels as ``json:`` and its compact JSON, and so does a number among texts: the piece gets it back as
it gave it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from webapp.service.components.calls import Call
from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces import texts

WRITTEN = "json:"
MOST = 10_000
_TYPES: tuple[tuple[type, str], ...] = ((str, "string"), (bool, "boolean"), (int, "integer"))
_SAFE = 2**53


def encoded(value: Any) -> str:
    """``value`` as a text."""
    if isinstance(value, str) and not value.startswith(WRITTEN):
        return value
    return f"{WRITTEN}{orjson.dumps(value).decode()}"


def decoded(value: Any) -> Any:
    """The inverse of :func:`encoded`; what is no text is itself."""
    if not isinstance(value, str) or not value.startswith(WRITTEN):
        return value
    try:
        return orjson.loads(value.removeprefix(WRITTEN))
    except orjson.JSONDecodeError:
        return value


def static(state: Any) -> tuple[str, list[dict[str, Any]]]:
    """The type of a prop with these options of a piece, and the options; ``string`` where there are none."""
    pairs = [(_label(option), option.get("value")) for option in _options(state)]
    kind = next((name for type_, name in _TYPES if pairs and all(_is(value, type_) for _, value in pairs)), "string")
    values = {_key(value): (label, value) for label, value in pairs if value is not None}
    return kind, [
        {"label": label, "value": value if kind != "string" else encoded(value)} for label, value in values.values()
    ]


def remote(call: Call, state: Any) -> dict[str, Any]:
    """The value of the Reply for the options that a piece gave: one page, narrowed by what is sought where the piece
    itself does not search. Raises :class:`ComponentError` with the piece's own words where it offers none until
    something else is chosen."""
    options = [] if call.page else [(_label(option), encoded(option.get("value"))) for option in _options(state)]
    if not options and not call.page and isinstance(state, Mapping) and state.get("disabled"):
        words = texts.sentence(state.get("placeholder"))
        raise ComponentError(words or "There is nothing to choose from yet. Fill in the fields before it first.")
    searches = isinstance(state, Mapping) and state.get("searches") is True
    sought = "" if searches else (call.query or "").strip().casefold()
    listed = [{"label": label, "value": value} for label, value in options if sought in label.casefold()]
    return {"options": listed, "string_options": None, "context": None}


def _options(state: Any) -> Sequence[Mapping[str, Any]]:
    options = state.get("options") if isinstance(state, Mapping) else state
    if not isinstance(options, list):
        return []
    return [option for option in options[:MOST] if isinstance(option, Mapping) and option.get("value") is not None]


def _label(option: Mapping[str, Any]) -> str:
    label, value = option.get("label"), option.get("value")
    return texts.line(str(label), 300) if label not in (None, "") else str(value)


def _is(value: Any, kind: type) -> bool:
    if kind is int and type(value) is int:
        return abs(int(value)) < _SAFE
    return type(value) is kind


def _key(value: Any) -> str:
    return orjson.dumps(value).decode()
