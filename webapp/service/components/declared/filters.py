"""The filters of templates, by name.

A filter never fails on data: a ``TypeError`` or ``ValueError`` gives None.
"""

import base64
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from webapp.kit.clock import SECOND, iso, parse_iso
from webapp.service.outbound.bodies import at_path

_NO_DECIMALS = frozenset(
    {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"}
)
_THREE_DECIMALS = frozenset(["bhd", "jod", "kwd", "omr", "tnd"])
_EMPTY: tuple[Any, ...] = (None, "", [], {})
MANY = 20
_MILLISECONDS = 10**11  # a number above it counts milliseconds, not seconds


def number(value: Any) -> Any:
    """``value`` as a number; returned unchanged if it is not one."""
    try:
        parsed = float(value)
    except (TypeError, ValueError):
        return value
    if not math.isfinite(parsed):
        return value
    return int(parsed) if parsed.is_integer() else parsed


def plus(value: Any, other: Any) -> Any:
    """The sum. Raises ``TypeError`` if one is not a number."""
    return sum((number(value), number(other)))


def decimals(currency: str) -> int:
    """The number of decimals of ``currency``, a lower-case ISO 4217 code."""
    return 0 if currency in _NO_DECIMALS else 3 if currency in _THREE_DECIMALS else 2


def items_of(value: Any) -> list[Any]:
    """``value`` as a list: the values of an object, or a list of the single value."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else [value]


def each(value: Any, *paths: Any) -> list[Any]:
    """The member at ``paths`` of each item; with several paths, the first that is not empty."""
    if len(paths) == 1:
        return [at_path(item, str(paths[0])) for item in items_of(value)]
    return [member(item, *paths) for item in items_of(value)]


def unique(value: Any, path: Any) -> list[Any]:
    """The items with distinct members at ``path``: the last of equal ones; items without the member are left out."""
    by_member = {str(key): item for item in items_of(value) if (key := at_path(item, str(path))) not in _EMPTY}
    return list(by_member.values())


def wrap(value: Any, path: Any) -> list[Any]:
    """Each item wrapped in an object, at ``path``."""
    wrapped = [item for item in items_of(value) if item not in (None, "")]
    for step in reversed(str(path).split(".")):
        wrapped = [{step: item} for item in wrapped]
    return wrapped


def where(value: Any, path: Any, *wanted: Any) -> list[Any]:
    """The items whose member at ``path`` is one of those ``wanted``."""
    return [item for item in items_of(value) if at_path(item, str(path)) in wanted]


def holding(value: Any, wanted: Any, *paths: Any) -> list[Any]:
    """The items with a member at one of ``paths`` equal to ``wanted``."""
    return [item for item in items_of(value) if any(at_path(item, str(path)) == wanted for path in paths)]


def at(value: Any, place: Any) -> Any:
    """The item at index ``place``; -1 is the last one."""
    items = items_of(value)
    return items[place] if isinstance(place, int) and -len(items) <= place < len(items) else None


def member(value: Any, *paths: Any) -> Any:
    """The first member at one of ``paths`` that is not empty."""
    members = (at_path(value, str(path)) for path in paths)
    return next((inner for inner in members if inner not in _EMPTY), None)


def exchange(value: Any, *pairs: Any) -> list[Any]:
    """Each item replaced by ``pairs`` of an old and a new value; items in no pair are left out."""
    new = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return [new[item] for item in items_of(value) if item in new]


def merge(value: Any, other: Any) -> dict[str, Any]:
    """The members of the object, with those of the object ``other``, which win."""
    objects = (item for item in (value, other) if isinstance(item, Mapping))
    return {name: inner for item in objects for name, inner in item.items()}


def among(value: Any, others: Any) -> list[Any]:
    """The items that are in ``others``, a list or comma-separated text."""
    listed = [part.strip() for part in others.split(",")] if isinstance(others, str) else items_of(others)
    return [item for item in items_of(value) if item in listed]


def as_text(value: Any) -> str:
    """``value`` as text: booleans, lists and objects as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # an integer of more than 64 bits, or a lone surrogate
        return json.dumps(value, separators=(",", ":"))


class Encoded(str):
    """Text that is percent-encoded already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: ``arguments`` are the least and greatest number that it takes, ``meaning`` is its text in the
    manual."""

    function: Callable[..., Any]
    arguments: tuple[int, int]
    meaning: str
    takes_none: bool = False

    def apply(self, value: Any, *arguments: Any) -> Any:
        """Return the filtered value; None if the value or an argument does not fit."""
        if value is None and not self.takes_none:
            return None
        try:
            return self.function(value, *arguments)
        except (TypeError, ValueError, ArithmeticError):
            return None


def _or(value: Any, *others: Any) -> Any:
    return next((each for each in (value, *others) if each not in (None, "", [], {})), None)


def _if(value: Any, condition: Any) -> Any:
    return None if _not(condition) else value


def _unless(value: Any, condition: Any) -> Any:
    return value if _not(condition) else None


def _not(value: Any) -> bool:
    return value in (None, "", [], {}, False)


def _then(value: Any, filled: Any, empty: Any = None) -> Any:
    return empty if _not(value) else filled


def _with(value: Any, other: Any, between: str = " ") -> str:
    return str(between).join(as_text(part) for part in (value, other) if not _not(part))


def _is(value: Any, wanted: Any, then: Any = True, otherwise: Any = None) -> Any:
    return then if value == wanted else otherwise


def _count(value: Any, noun: str = "", nouns: str = "") -> Any:
    number = value if isinstance(value, int) else len(value) if isinstance(value, list | Mapping | str) else 0
    return f"{number} {noun if number == 1 else nouns or noun + 's'}" if noun else number


def _join(value: Any, between: str = ", ") -> str:
    return str(between).join(as_text(item) for item in items_of(value) if item not in (None, ""))


def _split(value: Any, between: str = ",") -> list[str]:
    return [part.strip() for part in as_text(value).split(str(between)) if part.strip()]


def _until(value: Any, end: Any) -> str:
    return as_text(value).rpartition(str(end))[0]


def _ms(value: Any) -> int | None:
    """Epoch milliseconds of an ISO 8601 time, or of a number of seconds or milliseconds."""
    moment = number(value)
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return int(moment if abs(moment) > _MILLISECONDS else moment * SECOND)
    try:
        return parse_iso(str(value))
    except ValueError:
        return None


def _seconds(value: Any) -> int | None:
    moment = _ms(value)
    return None if moment is None else moment // SECOND


def _iso(value: Any) -> str | None:
    moment = _ms(value)
    return None if moment is None else iso(moment)


def _money(value: Any, currency: Any) -> str:
    name, amount = str(currency or "").lower(), number(value)
    if not isinstance(amount, int | float):
        return as_text(value)
    places = decimals(name)
    return f"{amount / 10**places:.{places}f} {name.upper()}".strip()


def _name(value: Any) -> str:
    """A valid name of a prop, different for each text."""
    return re.sub(r"[^A-Za-z0-9]", lambda match: f"_{ord(match[0]):x}", as_text(value))


def _trim(value: Any, ends: str | None = None) -> str:
    return as_text(value).strip(ends)


def _path(value: Any) -> Encoded:
    return Encoded(quote(as_text(value).strip("/"), safe="/"))


FILTERS: Mapping[str, Filter] = {
    "or": Filter(_or, (1, MANY), "the first of the value and the arguments that is not empty", takes_none=True),
    "if": Filter(_if, (1, 1), "the value where the argument is not empty, else nothing"),
    "unless": Filter(_unless, (1, 1), "the value where the argument is empty, else nothing"),
    "then": Filter(_then, (1, 2), "the first argument where the value is not empty, else the second", takes_none=True),
    "with": Filter(_with, (1, 2), "the value and the first argument, where both are with the second between", True),
    "not": Filter(_not, (0, 0), "true where the value is empty or false, else false", takes_none=True),
    "is": Filter(_is, (1, 3), "the second argument (or true) where the value is the first, else the third", True),
    "text": Filter(as_text, (0, 0), "as text; lists and objects as JSON"),
    "number": Filter(number, (0, 0), "text as a number"),
    "plus": Filter(plus, (1, 1), "a number and another one together"),
    "lower": Filter(lambda value: as_text(value).lower(), (0, 0), "in lower case"),
    "trim": Filter(_trim, (0, 1), "without spaces, or what is named, around it"),
    "cut": Filter(lambda value, most: as_text(value)[:most], (1, 1), "its first characters"),
    "replace": Filter(lambda value, old, new: as_text(value).replace(old, new), (2, 2), "one text in it by another"),
    "until": Filter(_until, (1, 1), "the part before the last occurrence of a text in it"),
    "split": Filter(_split, (0, 1), "a text as a list, cut at commas or what is named"),
    "join": Filter(_join, (0, 1), "a list as text, with commas or what is named between"),
    "count": Filter(_count, (0, 2), "how many there are, with a noun: `2 tasks`"),
    "each": Filter(each, (1, MANY), "of every item the member at a path, in quotes: `each('user.name')`"),
    "wrap": Filter(wrap, (1, 1), "each item as an object that has it at a path: `wrap('person.email')`"),
    "where": Filter(where, (2, MANY), "the items whose member at a path is one of the values"),
    "holding": Filter(holding, (2, MANY), "the items of which one of the members named is the first argument"),
    "among": Filter(among, (1, 1), "the items that are also in another list"),
    "merge": Filter(merge, (1, 1), "the members of an object and those of another, which win", True),
    "exchange": Filter(exchange, (2, MANY), "each item exchanged for another, by pairs; the rest is left out"),
    "member": Filter(member, (1, MANY), "the first of the members at paths that is not empty"),
    "unique": Filter(unique, (1, 1), "each item once, by the member at a path"),
    "at": Filter(at, (1, 1), "the item at a place, counted from 0, or from the end by -1"),
    "ms": Filter(_ms, (0, 0), "a time as epoch milliseconds"),
    "seconds": Filter(_seconds, (0, 0), "a time as epoch seconds"),
    "iso": Filter(_iso, (0, 0), "a time as ISO 8601"),
    "money": Filter(_money, (1, 1), "an amount in the smallest unit of a currency, as people write it"),
    "name": Filter(_name, (0, 0), "as the name of a prop"),
    "path": Filter(_path, (0, 0), "in an address, with its slashes"),
    "base64": Filter(lambda value: base64.b64encode(as_text(value).encode()).decode(), (0, 0), "UTF-8 as base64"),
}  # fmt: skip
"""By name; the manual lists them."""
