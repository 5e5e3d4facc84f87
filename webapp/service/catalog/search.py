"""Searches the apps of a catalog by the words and filters of contract "Apps", sorts them and counts them by category.

The words of apps are an index in memory. An app stands for itself by its place, a number in the default order, until a
page of apps is returned: numbers are found, sorted and counted without touching thousands of apps. A :class:`Listing`
is a sorted list that is cut into pages. It is sorted by a unique key; descending order reads it from the end. Its
cursors are those of ``kit.cursors``, which stay valid when apps are added. The catalog never changes, so results are
cached.
"""

import functools
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Generic, Literal, Self, TypeVar, get_args

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
_LAST = "\U0010ffff"  # sorts after every letter and digit


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


class Beginnings:
    """Which of some texts have a part that begins as somebody typed; a text is named by its number, from 0 on."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        """``texts`` are the parts of each."""
        numbers = defaultdict[str, list[int]](list)
        for number, parts in enumerate(texts):
            for part in set(parts):
                numbers[part].append(number)
        self.parts = sorted(numbers)
        self._numbers = [number for part in self.parts for number in numbers[part]]
        self._starts = [0, *accumulate(len(numbers[part]) for part in self.parts)]

    def of(self, *beginnings: str) -> set[int]:
        """The texts with a part that begins with one of ``beginnings``."""
        return set[int]().union(*map(self._range, beginnings))

    def _range(self, beginning: str) -> list[int]:
        low, high = bisect_left(self.parts, beginning), bisect_left(self.parts, beginning + _LAST)
        return self._numbers[self._starts[low] : self._starts[high]]


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
    """Searches apps by their words. Safe to share between threads."""

    def __init__(self, apps: Iterable[App], categories: Sequence[Category]) -> None:
        self._apps = sorted(apps, key=order(None, None).key_of)
        self._place_of, self._categories = {app.slug: place for place, app in enumerate(self._apps)}, categories
        self._ranks = functools.lru_cache(maxsize=8)(self._rank)
        self._listing = functools.lru_cache(maxsize=64)(self._make_listing)
        self._ready = functools.lru_cache(maxsize=64)(self._split)
        self._matching = functools.lru_cache(maxsize=64)(self._match)

    def page(
        self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None, window: cursors.Window
    ) -> cursors.Page[App]:
        """A page of the apps that match. Raises :class:`cursors.BadCursor`."""
        mark = cursors.fingerprint("apps", *narrowed.parts, key, direction)
        return self._with_apps(self._listing(narrowed, key, direction).page(window, mark))

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
        own = {place for slug in states.connected if (place := self._place_of.get(slug)) is not None}
        groups: dict[State, Sequence[int]] = {"connected": (), "ready": ready, "setup": setup}
        if own:
            groups["connected"] = [place for place in listing.items if place in own]
            groups["ready"] = [place for place in ready if place not in own]
            groups["setup"] = [place for place in setup if place not in own]
        ascending = STATES[::-1] if by.descending else STATES
        rank = {state: number for number, state in enumerate(ascending)}
        items = [place for state in ascending if state in states.listed for place in groups[state]]

        def key_of(place: int) -> cursors.Key:
            return rank[states.of(self._apps[place])], *by.key_of(place)

        mark = cursors.fingerprint("apps by state", *narrowed.parts, key, direction, sorted(states.listed))
        page = Listing(items, Order((int, *by.shape), key_of, by.descending)).page(window, mark)
        return ByState(self._with_apps(page), {state: len(places) for state, places in groups.items()})

    def counts(self, narrowed: Filter) -> dict[str, int]:
        """The number of matching apps by category id, including categories without any."""
        counts = {category.id: 0 for category in self._categories}
        shelves = Counter(self._apps[place].category_ids for place in self._matching(narrowed))
        for category_ids, count in shelves.items():
            for category_id in category_ids:
                counts[category_id] += count
        return counts

    def _with_apps(self, page: cursors.Page[int]) -> cursors.Page[App]:
        apps = [self._apps[place] for place in page.items]
        return cursors.Page(apps, page.total_count, page.start_cursor, page.end_cursor)

    def _make_listing(self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None) -> Listing[int]:
        subset = narrowed.subset
        if subset.among or subset.without:  # differs between users, so it is cut out of a listing that they share
            shared = replace(narrowed, subset=replace(subset, among=frozenset(), without=frozenset()))
            return self._listing(shared, key, direction).only(lambda place: subset.admits(self._apps[place]))
        places: Sequence[int] = self._matching(narrowed)
        if key is None and direction is None and narrowed.words:
            return self._nearest_first(places, narrowed.words)
        by = order(key, direction)
        if (ranks := self._ranks(key, direction == "asc")) is not None:
            places = sorted(places, key=ranks.__getitem__)
        return Listing(places, Order(by.shape, lambda place: by.key_of(self._apps[place]), by.descending))

    def _nearest_first(self, places: Sequence[int], words: Sequence[str]) -> Listing[int]:
        """``places`` in the default order of a search: names that begin with ``words``, names in which each of them
        begins a word, then others."""
        by, named = order(None, None), set.intersection(*map(self._names.of, words))
        nearest = self._lines.of(*{" ".join(words), "_".join(words)})

        def key_of(place: int) -> cursors.Key:
            return 0 if place in nearest else 1 if place in named else 2, *by.key_of(self._apps[place])

        items = [place for near in (nearest, named - nearest) for place in places if place in near]
        items += [place for place in places if place not in named]
        return Listing(items, Order((int, *by.shape), key_of))

    def _split(
        self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None, clients: frozenset[str]
    ) -> tuple[list[int], list[int]]:
        """The apps that match and are ready where ``clients`` have a client, and the others; each in order."""
        ready, setup = list[int](), list[int]()
        for place in self._listing(narrowed, key, direction).items:
            (ready if self._apps[place].ready(clients) else setup).append(place)
        return ready, setup

    def _rank(self, key: SortKey | None, lightest_first: bool) -> Sequence[int] | None:
        """The rank of each place in the order; None for the default order, in which places are."""
        if key in (None, "featured_weight") and not lightest_first:
            return None
        by, ranks = order(key, "asc" if lightest_first else None), array("i", bytes(4 * len(self._apps)))
        for rank, place in enumerate(sorted(range(len(self._apps)), key=lambda place: by.key_of(self._apps[place]))):
            ranks[place] = rank
        return ranks

    def _match(self, narrowed: Filter) -> Sequence[int]:
        """The places that match, in their order."""
        matching = range(len(self._apps)) if narrowed.words is None else sorted(self._holding(narrowed.words))
        if not narrowed.narrows:
            return matching
        return [place for place in matching if narrowed.admits(self._apps[place])]

    def _holding(self, words: Sequence[str]) -> set[int]:
        """The places of apps that have all of ``words``, or else similar words in their names ("gogle shets")."""
        if not words:
            return set()
        exact = set.intersection(*map(self._words.of, words))
        if exact:
            return exact
        return set.intersection(*(self._words.of(word, *similar_words(word, self._spellings)) for word in words))

    @functools.cached_property
    def _words(self) -> Beginnings:
        """The words of each app: its name, slug, with underscores and without, description and categories."""
        return Beginnings(
            words(f"{app.name_words} {app.slug.replace('_', '')} {app.description} {' '.join(app.categories)}")
            for app in self._apps
        )

    @functools.cached_property
    def _names(self) -> Beginnings:
        """The words of names and slugs."""
        return Beginnings(words(app.name_words) for app in self._apps)

    @functools.cached_property
    def _lines(self) -> Beginnings:
        """Names and slugs as wholes."""
        return Beginnings(app.name_words.split("\n") for app in self._apps)

    @functools.cached_property
    def _spellings(self) -> list[str]:
        """The words of names and slugs, also of slugs without underscores."""
        return sorted({*self._names.parts, *(app.slug.replace("_", "") for app in self._apps)})
