"""Searches the apps of a catalog by the words and filters of contract "Apps", sorts them and counts them by category.

A :class:`Listing` is a sorted list in memory that is cut into pages. It is sorted by a unique key; descending order
reads it from the end. Its cursors are those of ``kit.cursors``, which stay valid when apps are added. The catalog never
changes, so results are cached.
"""

import functools
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Generic, Literal, Self, TypeVar, get_args

import orjson

from webapp.kit import cursors
from webapp.kit.misspelling import similar_words
from webapp.kit.text import fold
from webapp.service.catalog.app import App, Category

T = TypeVar("T")
SortKey = Literal["name", "name_slug", "featured_weight"]
SortDirection = Literal["asc", "desc"]
State = Literal["connected", "ready", "setup"]
STATES: tuple[State, ...] = get_args(State)
MAX_QUERY = 400
MAX_WORDS = 12
_WORD = re.compile(r"[^\W_]+")
FullText = Callable[[str], str]
"""Returns the row numbers that match an FTS5 query, as a JSON array."""


def words(text: str) -> tuple[str, ...]:
    """The folded words of ``text``, which have only letters and digits, so that none can be search syntax."""
    return tuple(_WORD.findall(fold(text)))


@dataclass(frozen=True, slots=True)
class Subset:
    """A filter by facts outside the catalog: apps in ``among`` (unless it is empty) and not in ``without``.

    ``ready`` selects the apps that can be connected, or those that cannot; the slugs ``clients`` have OAuth clients.
    """

    among: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    ready: bool | None = None
    clients: frozenset[str] = frozenset()

    @property
    def parts(self) -> tuple[object, ...]:
        """What it adds to the fingerprint of a cursor; a new client must not invalidate cursors."""
        return () if self == EVERYTHING else (sorted(self.among), sorted(self.without), self.ready)

    def admits(self, app: App) -> bool:
        """Whether ``app`` is in the subset."""
        return (
            (not self.among or app.slug in self.among)
            and app.slug not in self.without
            and (self.ready is None or self.ready == app.ready(self.clients))
        )


EVERYTHING = Subset()


@dataclass(frozen=True, slots=True)
class States:
    """Which states of apps to list, in the order of :data:`STATES`, and what an app's state depends on.

    An app is ``connected`` if its slug is in ``connected``; else ``ready`` if it can be connected, for which some need
    a client, as the slugs ``clients`` have; else somebody has to ``setup`` it.
    """

    listed: frozenset[State]
    connected: frozenset[str]
    clients: frozenset[str]

    def of(self, app: App) -> State:
        """The state of ``app``."""
        if app.slug in self.connected:
            return "connected"
        return "ready" if app.ready(self.clients) else "setup"


@dataclass(frozen=True, slots=True)
class ByState:
    """A page of apps by state, and how many match in each state, listed or not."""

    page: cursors.Page[App]
    counts: Mapping[State, int]


@dataclass(frozen=True, slots=True)
class Filter:
    """The criteria of a search; equal criteria make equal filters.

    ``words`` is None without a query, and empty for a query without words.
    """

    words: tuple[str, ...] | None
    category_ids: frozenset[str]
    components: bool
    actions: bool
    triggers: bool
    subset: Subset = EVERYTHING

    @classmethod
    def of(
        cls,
        q: str | None,
        category_ids: Sequence[str],
        has_components: bool | None,
        has_actions: bool | None,
        has_triggers: bool | None,
        subset: Subset = EVERYTHING,
    ) -> Self:
        """The filter for the parameters of a request; a ``has_`` filter applies only if it is true."""
        typed = words(q[:MAX_QUERY])[:MAX_WORDS] if q and q.strip() else None
        return cls(typed, frozenset(category_ids), bool(has_components), bool(has_actions), bool(has_triggers), subset)

    @property
    def parts(self) -> tuple[object, ...]:
        """The parts of a cursor's fingerprint."""
        return self.words, sorted(self.category_ids), self.components, self.actions, self.triggers, *self.subset.parts

    @property
    def narrows(self) -> bool:
        """Whether any criterion besides the words excludes apps."""
        return bool(self.components or self.actions or self.triggers or self.category_ids or self.subset != EVERYTHING)

    def admits(self, app: App) -> bool:
        """Whether ``app`` meets all criteria besides the words."""
        return (
            (not self.components or app.actions + app.triggers > 0)
            and (not self.actions or app.actions > 0)
            and (not self.triggers or app.triggers > 0)
            and (not self.category_ids or not self.category_ids.isdisjoint(app.category_ids))
            and self.subset.admits(app)
        )


@dataclass(frozen=True, slots=True)
class Order(Generic[T]):
    """A sort order: keys with the types in ``shape``, ascending or ``descending``."""

    shape: tuple[type[str] | type[int], ...]
    key_of: Callable[[T], cursors.Key]
    descending: bool = False


def order(sort_key: SortKey | None, direction: SortDirection | None) -> Order[App]:
    """The requested order; by default featured apps come first."""
    if sort_key == "name":
        return Order((str, str), lambda app: (app.sort_name, app.slug), direction == "desc")
    if sort_key == "name_slug":
        return Order((str,), lambda app: (app.slug,), direction == "desc")
    sign = 1 if direction == "asc" else -1
    return Order((int, str, str), lambda app: (sign * app.featured_weight, app.sort_name, app.slug))


def _nearest_first(words: Sequence[str]) -> Order[App]:
    """The default order of a search: matches of names come first, then featured apps."""
    near = _closeness(words)
    return Order((int, int, str, str), lambda app: (near(app), -app.featured_weight, app.sort_name, app.slug))


def _grouped(apps: Iterable[App], words: Sequence[str]) -> list[App]:
    """``apps``, which are sorted with featured apps first, in the order of :func:`_nearest_first`."""
    return sorted(apps, key=_closeness(words))


def _closeness(words: Sequence[str]) -> Callable[[App], int]:
    """A function of an app: 0 if its name begins with ``words``, 1 if each begins a word of its name, else 2."""
    name, slug = "\n" + " ".join(words), "\n" + "_".join(words)
    first, *others = (f" {word}" for word in words)

    def near(app: App) -> int:
        held = app.name_words
        if first not in held:
            return 2
        for other in others:
            if other not in held:
                return 2
        return 0 if name in held or slug in held else 1

    return near


class Listing(Generic[T]):
    """Items in one order, cut into pages."""

    def __init__(self, items: Sequence[T], by: Order[T]) -> None:
        """``items`` must be sorted by ``by.key_of``, ascending."""
        self.items, self.by = items, by

    def only(self, admitted: Callable[[T], bool]) -> "Listing[T]":
        """The items that are ``admitted``, in the same order."""
        return Listing(list(filter(admitted, self.items)), self.by)

    def page(self, window: cursors.Window, mark: str) -> cursors.Page[T]:
        """The page that ``window`` selects. Raises :class:`cursors.BadCursor`."""
        columns = [f"key_{index}" for index in range(len(self.by.shape))]
        plan = cursors.keyset(window, mark, columns, descending=self.by.descending)
        low, high = self._bounds(plan)
        if self.by.descending == plan.reverse:
            rows = self.items[low : min(high, low + plan.limit)]
        else:
            rows = self.items[max(low, high - plan.limit) : high][::-1]
        return cursors.page(rows, window, plan, mark, self.by.key_of, len(self.items))

    def _bounds(self, plan: cursors.Keyset) -> tuple[int, int]:
        after, before = self._key(plan, "after"), self._key(plan, "before")
        lower, upper = (before, after) if self.by.descending else (after, before)
        low = 0 if lower is None else bisect_right(self.items, lower, key=self.by.key_of)
        high = len(self.items) if upper is None else bisect_left(self.items, upper, key=self.by.key_of)
        return low, max(low, high)

    def _key(self, plan: cursors.Keyset, side: str) -> cursors.Key | None:
        if f"{side}_0" not in plan.params:
            return None
        key = tuple(plan.params[f"{side}_{index}"] for index in range(len(self.by.shape)))
        if tuple(type(part) for part in key) != self.by.shape:
            raise cursors.BadCursor("The cursor is broken; start again without it.")
        return key


class Search:
    """Searches apps by their row numbers and a full-text index. Safe to share between threads."""

    def __init__(self, apps: Mapping[int, App], categories: Sequence[Category], full_text: FullText) -> None:
        self._by_row, self._categories, self._index = apps, categories, full_text
        self._end = max(apps, default=0) + 1
        self._places = functools.lru_cache(maxsize=8)(self._sort)
        self._listing = functools.lru_cache(maxsize=64)(self._make_listing)
        self._ready = functools.lru_cache(maxsize=64)(self._split)
        self._matching = functools.lru_cache(maxsize=64)(self._match)

    def page(
        self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None, window: cursors.Window
    ) -> cursors.Page[App]:
        """A page of the apps that match. Raises :class:`cursors.BadCursor`."""
        mark = cursors.fingerprint("apps", *narrowed.parts, key, direction)
        return self._listing(narrowed, key, direction).page(window, mark)

    def by_state(
        self,
        narrowed: Filter,
        key: SortKey | None,
        direction: SortDirection | None,
        window: cursors.Window,
        states: States,
    ) -> ByState:
        """A page of the apps that match, by state and in each in the order asked for, and the number of each state.

        What is connected is not part of a cursor, which is valid after an account was connected. Raises
        :class:`cursors.BadCursor`.
        """
        listing = self._listing(narrowed, key, direction)
        by, (ready, setup) = listing.by, self._ready(narrowed, key, direction, states.clients)
        groups: dict[State, Sequence[App]] = {"connected": (), "ready": ready, "setup": setup}
        if states.connected:
            groups["connected"] = [app for app in listing.items if app.slug in states.connected]
            groups["ready"] = [app for app in ready if app.slug not in states.connected]
            groups["setup"] = [app for app in setup if app.slug not in states.connected]
        ascending = STATES[::-1] if by.descending else STATES
        rank = {state: place for place, state in enumerate(ascending)}
        items = [app for state in ascending if state in states.listed for app in groups[state]]
        ranked: Order[App] = Order((int, *by.shape), lambda app: (rank[states.of(app)], *by.key_of(app)), by.descending)
        mark = cursors.fingerprint("apps by state", *narrowed.parts, key, direction, sorted(states.listed))
        counts = {state: len(apps) for state, apps in groups.items()}
        return ByState(Listing(items, ranked).page(window, mark), counts)

    def counts(self, narrowed: Filter) -> dict[str, int]:
        """The number of matching apps by category id, including categories without any."""
        counts = {category.id: 0 for category in self._categories}
        for row in compress(range(self._end), self._matching(narrowed)):
            for category_id in self._by_row[row].category_ids:
                counts[category_id] += 1
        return counts

    def _make_listing(self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None) -> Listing[App]:
        subset = narrowed.subset
        if subset.among or subset.without:  # differs between users, so it is cut out of a listing that they share
            shared = replace(narrowed, subset=replace(subset, among=frozenset(), without=frozenset()))
            return self._listing(shared, key, direction).only(subset.admits)
        place_of, matching = self._places(key, direction == "asc").__getitem__, self._matching(narrowed)
        apps = [self._by_row[row] for row in sorted(compress(range(self._end), matching), key=place_of)]
        if narrowed.words and key is None and direction is None:
            return Listing(_grouped(apps, narrowed.words), _nearest_first(narrowed.words))
        return Listing(apps, order(key, direction))

    def _split(
        self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None, clients: frozenset[str]
    ) -> tuple[list[App], list[App]]:
        """The apps that match and are ready where ``clients`` have a client, and the others; each in order."""
        ready, setup = list[App](), list[App]()
        for app in self._listing(narrowed, key, direction).items:
            (ready if app.ready(clients) else setup).append(app)
        return ready, setup

    def _sort(self, key: SortKey | None, lightest_first: bool) -> Sequence[int]:
        """The place of each row number in the order."""
        by, places = order(key, "asc" if lightest_first else None), array("i", bytes(4 * self._end))
        for place, row in enumerate(sorted(self._by_row, key=lambda row: by.key_of(self._by_row[row]))):
            places[row] = place
        return places

    def _match(self, narrowed: Filter) -> bytes:
        """A byte for each row number, 1 where the row matches; sets would take forty times as much memory."""
        matching: Collection[int] = self._by_row.keys() if narrowed.words is None else self._full_text(narrowed.words)
        if narrowed.narrows:
            matching = [row for row in matching if narrowed.admits(self._by_row[row])]
        mask = bytearray(self._end)
        for row in matching:
            mask[row] = 1
        return bytes(mask)

    def _full_text(self, words: tuple[str, ...]) -> list[int]:
        """The rows that contain all of ``words``, or else similar words in their names ("gogle shets")."""
        if not words:
            return []
        exact = self._holding([[word] for word in words])
        return exact or self._holding([[word, *similar_words(word, self._names)] for word in words])

    def _holding(self, choices: Sequence[Sequence[str]]) -> list[int]:
        """The rows that have, for each of ``choices``, a word that begins with one of its words."""
        query = " AND ".join("({})".format(" OR ".join(f'"{word}"*' for word in words)) for words in choices)
        return [row for row in orjson.loads(self._index(query)) if row in self._by_row]

    @functools.cached_property
    def _names(self) -> list[str]:
        """The words of the names of apps; none of them can be search syntax."""
        apps = self._by_row.values()
        return sorted({name for app in apps for name in (*words(app.name_words), app.slug.replace("_", ""))})
