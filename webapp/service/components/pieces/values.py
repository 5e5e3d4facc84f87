"""The values of the wire's props as a piece has them: its ``propsValue``."""

import datetime
import json
from collections.abc import Callable, Mapping
from typing import Any

from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces.choices import decoded
from webapp.service.components.pieces.field_names import field_of
from webapp.service.components.pieces.form import PieceForm, PropForm, ValueKind

FILE = "$file"


def props_value(piece: PieceForm, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` by the piece's own names and in its own forms; what it does not ask for is left out.

    A dynamic prop is an object of its fields, empty without any. A file is ``{"$file": <its name or address>}``.
    Raises :class:`ComponentError` for a value that is not what the piece takes.
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
    """What a text says as JSON; a text that is none is itself."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return decoded(value)


def _time(value: Any) -> Any:
    """A time in ISO 8601, in UTC where it says no other; what is none is left to the piece."""
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
    """What was chosen, of a list each: what a field of a dynamic prop is called tells of no list."""
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
