"""Records: how the fields of a frozen dataclass, or of a ``NamedTuple``, stand in the columns of a table.

A field is the column of its name: text, numbers and bytes as they are, ``bool`` as 0 or 1, an ``Enum`` by its value,
tuples, lists and mappings as JSON. A record within a record stands for its own columns.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson

T = TypeVar("T")
Values = Sequence[Any]
Convert = Callable[[Any], Any]
_JSON_KINDS = (list, dict, Mapping, Sequence)


class Column(NamedTuple):
    """A column: how its value is taken from a record, and what turns it into the database's value and back."""

    name: str
    get: Convert
    read: Convert | None
    write: Convert | None


def columns(record: type[Any], path: str = "") -> list[Column]:
    """The columns of ``record``, in the order of its fields. Raises ``TypeError`` for a field that no column holds."""
    made = []
    for name, hint in _fields(record).items():
        if _is_record(hint):
            made += columns(hint, f"{path}{name}.")
        else:
            made.append(Column(name, attrgetter(path + name), *_conversion(hint)))
    return made


def maker(record: type[T]) -> Callable[[Values], T]:
    """What makes a record of the values of its columns, which come in the order of :func:`columns`."""
    reads, nested = list[tuple[int, Convert]](), list[tuple[int, int, Callable[[Values], Any]]]()
    position = 0
    for hint in _fields(record).values():
        width = len(columns(hint)) if _is_record(hint) else 1
        if _is_record(hint):
            nested.insert(0, (position, position + width, maker(hint)))  # from the last to the first, see below
        elif (read := _conversion(hint)[0]) is not None:
            reads.append((position, read))
        position += width
    if not reads and not nested:
        return lambda values: record(*values)

    def make(values: Values) -> T:
        changed = list(values)
        for position, read in reads:
            changed[position] = read(changed[position])
        for start, end, make_nested in nested:  # each shortens the list behind itself
            changed[start:end] = (make_nested(changed[start:end]),)
        return record(*changed)

    return make


def _fields(record: type[Any]) -> dict[str, Any]:
    """The fields that a record is made of, with their types."""
    hints = get_type_hints(record)
    if not dataclasses.is_dataclass(record):
        return hints
    names = [field.name for field in dataclasses.fields(record)]
    return {name: hints[name] for name in names}


def _is_record(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")


def _conversion(hint: Any) -> tuple[Convert | None, Convert | None]:
    """What reads and what writes a value of the type ``hint``; None where it is the database's own."""
    kind = get_origin(hint) or hint
    if kind in (Union, UnionType):
        (inner,) = {_conversion(option) for option in get_args(hint) if option is not NoneType}
        read, write = inner
        return _unless_none(read), _unless_none(write)
    if kind in (str, int, float, bytes, Literal):
        return None, None
    if kind is bool:
        return bool, int
    if kind is tuple:
        return _read_tuple, _write_json
    if kind in _JSON_KINDS:
        return _read_json, _write_json
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind, attrgetter("value")
    raise TypeError(f"no column holds a value of the type {hint}")


def _unless_none(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _read_tuple(text: str) -> tuple[Any, ...]:
    return tuple(_read_json(text))


def _read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # half of a surrogate pair, which was escaped
        return json.loads(text)


def _write_json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=dict).decode()
    except TypeError:  # a number beyond 64 bits, or half a surrogate pair: escaped, they are JSON like any other
        return json.dumps(value, default=dict)
