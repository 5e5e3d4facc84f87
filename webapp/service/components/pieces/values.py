"""Translates prop values of the API to a piece's ``propsValue``, and a piece's options to those of the API.

In the API an option is text, an integer or a boolean. The name of a field of a ``DYNAMIC`` prop contains its kind, so
that its value can be translated back without asking the piece.
"""

import datetime
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from webapp.service.components.calls import Call
from webapp.service.components.errors import ComponentError
from webapp.service.components.options import Option, Options
from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import PieceForm, PropForm, ValueKind

_SPECIAL = re.compile(r"[^A-Za-z0-9_]|(?<=[^A-Za-z0-9])x+")
_ESCAPE = re.compile(r"_x([0-9a-f]{1,6})_")
_KINDS: tuple[ValueKind, ...] = ("number", "json", "date", "file", "rows")
WRITTEN = "json:"
MOST = 10_000
_TYPES: tuple[tuple[type, str], ...] = ((str, "string"), (bool, "boolean"), (int, "integer"))
_SAFE = 2**53
FILE = "$file"


def field_name(prop: str, field: str, kind: ValueKind) -> str:
    """The name in the API of a ``field`` of the dynamic prop that is called ``prop`` there."""
    written = _SPECIAL.sub(lambda match: "".join(f"_x{ord(character):x}_" for character in match[0]), field)
    return f"{prop}__{written}{f'_x{kind}' if kind in _KINDS else ''}"


def field_of(name: str, props: Iterable[str]) -> tuple[str, str, ValueKind] | None:
    """The dynamic prop among ``props``, the field and the kind of the value called ``name``; None if there is none."""
    for prop in sorted(props, key=len, reverse=True):
        if name.startswith(f"{prop}__"):
            written, kind = _without_kind(name.removeprefix(f"{prop}__"))
            return prop, _ESCAPE.sub(_character, written), kind
    return None


def _without_kind(written: str) -> tuple[str, ValueKind]:
    for kind in _KINDS:
        if written.endswith(f"_x{kind}"):
            return written.removesuffix(f"_x{kind}"), kind
    return written, "choice"


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x110000 else match[0]


def encoded(value: Any) -> str:
    """``value`` encoded as text."""
    if isinstance(value, str) and not value.startswith(WRITTEN):
        return value
    return f"{WRITTEN}{orjson.dumps(value).decode()}"


def decoded(value: Any) -> Any:
    """The inverse of :func:`encoded`; values other than text are returned unchanged."""
    if not isinstance(value, str) or not value.startswith(WRITTEN):
        return value
    try:
        return orjson.loads(value.removeprefix(WRITTEN))
    except orjson.JSONDecodeError:
        return value


def static(state: Any) -> tuple[str, list[dict[str, Any]]]:
    """The type of a prop with a piece's options, and the options in the API's form; ``string`` without options."""
    pairs = [(_label(option), option.get("value")) for option in _options(state)]
    kind = next((name for type_, name in _TYPES if pairs and all(_is(value, type_) for _, value in pairs)), "string")
    values = {_key(value): (label, value) for label, value in pairs if value is not None}
    return kind, [
        {"label": label, "value": value if kind != "string" else encoded(value)} for label, value in values.values()
    ]


def remote(call: Call, state: Any) -> dict[str, Any]:
    """The value of the Reply for the options that a piece returned: one page, filtered by the query if the piece does
    not search itself.

    Raises :class:`ComponentError` with the piece's own message if another prop has to be chosen first.
    """
    options = [] if call.page else [(_label(option), encoded(option.get("value"))) for option in _options(state)]
    if not options and not call.page and isinstance(state, Mapping) and state.get("disabled"):
        words = texts.sentence(state.get("placeholder"))
        raise ComponentError(words or "There is nothing to choose from yet. Fill in the fields before it first.")
    searches = isinstance(state, Mapping) and state.get("searches") is True
    sought = "" if searches else (call.query or "").strip().casefold()
    offered = [Option(label, value) for label, value in options if sought in label.casefold()]
    return Options(offered).to_json(call.prop or "")


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


def props_value(piece: PieceForm, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` by the piece's own names and in its own forms, without values of unknown props.

    A dynamic prop becomes an object of its fields. A file becomes ``{"$file": <its name or URL>}``. Raises
    :class:`ComponentError` for a value that does not fit the prop.
    """
    dynamic = piece.dynamic
    written: dict[str, Any] = {own: {} for own in dynamic.values()}
    for wire, value in values.items():
        if value is None:
            continue
        form = piece.props.get(wire)
        if form is not None and form.kind != "dynamic":
            written[form.name] = _written(wire, form, value)
        elif form is None and (place := field_of(wire, dynamic)):
            prop, field, kind = place
            written[dynamic[prop]][field] = _written(field, PropForm(name=field, kind=kind), value)
    return written


def _written(name: str, form: PropForm, value: Any) -> Any:
    try:
        if form.kind == "rows":
            return [_row(form, row) for row in _listed(_json(value))]
        return _WRITERS.get(form.kind, _choice)(value)
    except ValueError as error:
        raise ComponentError(f"{name} is not valid: {error}") from error


def _row(form: PropForm, row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    kinds: Mapping[str, ValueKind] = form.members
    return {
        name: _WRITERS.get(kinds.get(name, "same"), _choice)(value) if value is not None else None
        for name, value in row.items()
    }


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value]
    raise ValueError("it must be a JSON list of objects.")


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        number = float(str(value).strip())
    except ValueError:
        raise ValueError("write a number, such as 12.5.") from None
    if number in (float("inf"), float("-inf")) or number != number:
        raise ValueError("write a number, such as 12.5.")
    return int(number) if number.is_integer() else number


def _json(value: Any) -> Any:
    """``value`` parsed as JSON; text that is not JSON is returned unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return decoded(value)


def _time(value: Any) -> Any:
    """A time in ISO 8601, in UTC unless it has an offset; anything else is returned unchanged."""
    text = str(value).strip()
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        return value
    time = time if time.tzinfo else time.replace(tzinfo=datetime.UTC)
    return time.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _file(value: Any) -> Any:
    return {FILE: value} if isinstance(value, str) else value


def _choice(value: Any) -> Any:
    """The chosen value or values: the name of a field of a dynamic prop does not say whether it is a list."""
    return [decoded(item) for item in value] if isinstance(value, list) else decoded(value)


def _choices(value: Any) -> Any:
    return [decoded(item) for item in value] if isinstance(value, list) else [decoded(value)]


def _items(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


_WRITERS: Mapping[ValueKind, Callable[[Any], Any]] = {
    "number": _number,
    "json": _json,
    "date": _time,
    "file": _file,
    "choices": _choices,
    "list": _items,
}
