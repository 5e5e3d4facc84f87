"""The names of actions as MCP tools (contract "Agents"): the key of the action with ``_`` for other characters.

A name has at most 64 letters, digits and ``_``, which strict clients accept. If two keys would share a name, or a key
is too long, the name ends with a hash of the key, so that it is stable.
"""

import hashlib
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, overload

MAX_NAME = 64
SEARCH, RUN, OPTIONS, CONFIGURATION = "search_tools", "run_tool", "list_options", "begin_configuration"
UPLOAD = "upload_file"
RESERVED = frozenset({SEARCH, RUN, OPTIONS, CONFIGURATION, UPLOAD})
"""The tools beside the actions."""
_HASH = 6
_OTHERS = re.compile("[^a-zA-Z0-9_]")


class NamedAction(NamedTuple):
    """An action with its tool name; ``app`` is the slug of its app."""

    name: str
    key: str
    app: str | None


class ToolNames:
    """The tool names of ``actions``, pairs of a key and an app's slug. Actions of ``unlisted`` keys are in no list, nor
    are those of ``searched`` keys, which are operations of an app's whole API and found by a search only.

    Instances are immutable. There may be a hundred thousand actions, so only their keys are kept, in two orders; names
    follow from the keys, and so do apps, apart from exceptions.
    """

    def __init__(
        self,
        actions: Iterable[tuple[str, str | None]],
        unlisted: Collection[str] = (),
        searched: Collection[str] = (),
    ) -> None:
        self._keys, self._apps = list[str](), dict[str, str | None]()
        for key, app in actions:
            self._keys.append(key)
            if app is None or app != _implied_app(key):
                self._apps[key] = app
        self._keys.sort()
        self.searched, self._unlisted = frozenset(key for key in self._keys if key in searched), frozenset(unlisted)
        self._of_other_apps = defaultdict[str | None, list[str]](list)
        for key, app in self._apps.items():
            self._of_other_apps[app].append(key)
        self._names = _exceptions(self._keys)
        self._by_name = sorted(self._keys, key=self._name)
        every_is_shown = not (self._unlisted or self.searched)
        self._shown = self._by_name if every_is_shown else list(filter(self._is_shown, self._by_name))
        self._searched = {self._app(key) for key in self.searched}

    def of_key(self, key: str) -> NamedAction | None:
        """The action with that key."""
        place = bisect_left(self._keys, key)
        return self._named(key) if self._keys[place : place + 1] == [key] else None

    def of_name(self, name: str) -> NamedAction | None:
        """The action with that tool name."""
        place = bisect_left(self._by_name, name, key=self._name)
        action = self._named(self._by_name[place]) if place < len(self._by_name) else None
        return action if action and action.name == name else None

    def of_apps(self, slugs: Sequence[str]) -> Sequence[NamedAction]:
        """The actions of these apps, sorted by name; of all apps if there are no slugs."""
        if not slugs:
            return _Actions(self._shown, self._named)
        return sorted(self._named(key) for slug in dict.fromkeys(slugs) for key in self._of_app(slug))

    @property
    def without_app(self) -> Sequence[NamedAction]:
        """The actions of no app, sorted by name."""
        return sorted(map(self._named, filter(self._is_shown, self._of_other_apps.get(None, ()))))

    def is_searched(self, slugs: Sequence[str]) -> bool:
        """Whether one of these apps, or of all apps if there are no slugs, has actions that only a search finds."""
        return not self._searched.isdisjoint(slugs) if slugs else bool(self._searched)

    def _of_app(self, slug: str) -> Iterator[str]:
        first, end = bisect_left(self._keys, f"{slug}-"), bisect_left(self._keys, f"{slug}.")  # "." follows "-"
        implied = (key for key in self._keys[first:end] if key not in self._apps)
        yield from filter(self._is_shown, chain(implied, self._of_other_apps.get(slug, ())))

    def _is_shown(self, key: str) -> bool:
        return key not in self.searched and key not in self._unlisted

    def _named(self, key: str) -> NamedAction:
        return NamedAction(self._name(key), key, self._app(key))

    def _name(self, key: str) -> str:
        return self._names.get(key) or _plain(key)

    def _app(self, key: str) -> str | None:
        return self._apps[key] if key in self._apps else _implied_app(key)


class _Actions(Sequence[NamedAction]):
    """The actions with these ``keys``, each of which is ``named`` when it is asked for."""

    def __init__(self, keys: Sequence[str], named: Callable[[str], NamedAction]) -> None:
        self._keys, self._named = keys, named

    @overload
    def __getitem__(self, place: int) -> NamedAction: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[NamedAction]: ...
    def __getitem__(self, place: int | slice) -> NamedAction | Sequence[NamedAction]:
        if isinstance(place, slice):
            return _Actions(self._keys[place], self._named)
        return self._named(self._keys[place])

    def __len__(self) -> int:
        return len(self._keys)


def _implied_app(key: str) -> str | None:
    """The app that a key names, ``slack`` in ``slack-send-message``; None where it names none."""
    app, dash, _ = key.partition("-")
    return app if dash else None


def _plain(key: str) -> str:
    """``key`` as a name, whether or not it can be one."""
    return _OTHERS.sub("_", key).strip("_") or "action"


def _hashed(key: str) -> str:
    return f"{_plain(key)[: MAX_NAME - _HASH - 1]}_{hashlib.sha256(key.encode()).hexdigest()[:_HASH]}"


def _exceptions(keys: Sequence[str]) -> dict[str, str]:
    """The names of those of the sorted ``keys`` that cannot have their plain ones: too long, reserved, or another's.

    Of several keys the first in order has the plain name; ~ sorts the operator's own components last.
    """
    names, taken = dict[str, str](), set[str]()
    for key in keys:
        name = _plain(key)
        if len(name) > MAX_NAME or name in RESERVED or name in taken:
            names[key] = name = _hashed(key)
        taken.add(name)
    return names
