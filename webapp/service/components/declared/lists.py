"""Filters that look into lists and objects; each raises no more than ``TypeError`` and ``ValueError``, which count as
nothing."""

from collections.abc import Mapping
from typing import Any

from webapp.service.outbound.outcomes import at_path

_EMPTY: tuple[Any, ...] = (None, "", [], {})


def items_of(value: Any) -> list[Any]:
    """``value`` as a list: the values of an object, a single value alone."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else [value]


def each(value: Any, *paths: Any) -> list[Any]:
    """Of every item the member at ``paths``; of several, the first that is not empty."""
    if len(paths) == 1:
        return [at_path(item, str(paths[0])) for item in items_of(value)]
    return [member(item, *paths) for item in items_of(value)]


def unique(value: Any, path: Any) -> list[Any]:
    """Each item once, by its member at ``path``; the last one counts, and those without it are left out."""
    by_member = {str(key): item for item in items_of(value) if (key := at_path(item, str(path))) not in _EMPTY}
    return list(by_member.values())


def wrap(value: Any, path: Any) -> list[Any]:
    """Each item as an object that has it at ``path``."""
    wrapped = [item for item in items_of(value) if item not in (None, "")]
    for step in reversed(str(path).split(".")):
        wrapped = [{step: item} for item in wrapped]
    return wrapped


def where(value: Any, path: Any, *wanted: Any) -> list[Any]:
    """The items whose member at ``path`` is one of those ``wanted``."""
    return [item for item in items_of(value) if at_path(item, str(path)) in wanted]


def holding(value: Any, wanted: Any, *paths: Any) -> list[Any]:
    """The items of which a member at one of ``paths`` is ``wanted``."""
    return [item for item in items_of(value) if any(at_path(item, str(path)) == wanted for path in paths)]


def at(value: Any, place: Any) -> Any:
    """The item at ``place``, from 0, or from the end by -1."""
    items = items_of(value)
    return items[place] if isinstance(place, int) and -len(items) <= place < len(items) else None


def member(value: Any, *paths: Any) -> Any:
    """The first member at one of ``paths`` that is not empty."""
    members = (at_path(value, str(path)) for path in paths)
    return next((inner for inner in members if inner not in _EMPTY), None)


def exchange(value: Any, *pairs: Any) -> list[Any]:
    """Each item exchanged by ``pairs`` of an old and a new one; what none of them names is left out."""
    new = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return [new[item] for item in items_of(value) if item in new]


def among(value: Any, others: Any) -> list[Any]:
    """The items that stand in ``others``, a list or a text with commas."""
    listed = [part.strip() for part in others.split(",")] if isinstance(others, str) else items_of(others)
    return [item for item in items_of(value) if item in listed]
