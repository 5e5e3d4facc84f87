"""Searching the apps of a catalog: which match, in what order, and how many there are in each category.

The catalog never changes, so whatever was looked up may be kept.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import orjson

from webapp.kit import cursors
from webapp.service.catalog.app import App
from webapp.service.catalog.listing import Filter, Listing, SortDirection, SortKey, grouped, nearest_first, order, words
from webapp.service.catalog.rows import Category

_SHORTEST, _ALIKE, _MOST_NEAR = 4, 75, 8
"""How many letters a word has whose spelling may be wrong; how much of a hundred it shares with another; how many."""
FullText = Callable[[str], str]
"""The numbers of the rows that hold the words of an FTS5 query, as a JSON array."""


class Search:
    """The apps by their row numbers, and the full-text index over them. Threads may share one."""

    def __init__(self, apps: Mapping[int, App], categories: Sequence[Category], full_text: FullText) -> None:
        self._by_row, self._categories, self._index = apps, categories, full_text
        self._sorted = functools.lru_cache(maxsize=8)(self._sort)
        self._listing = functools.lru_cache(maxsize=64)(self._make_listing)
        self._matching = functools.lru_cache(maxsize=64)(self._match)

    def page(
        self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None, window: cursors.Window
    ) -> cursors.Page[App]:
        """One page. Raises :class:`cursors.BadCursor`."""
        mark = cursors.fingerprint("apps", *narrowed.parts, key, direction)
        return self._listing(narrowed, key, direction).page(window, mark)

    def counts(self, narrowed: Filter) -> dict[str, int]:
        """How many apps each category id shows under ``narrowed``; all ids, zeros too."""
        counts = {category.id: 0 for category in self._categories}
        matching = self._matching(narrowed)
        for row, app in self._by_row.items():
            if matching[row]:
                for category_id in app.category_ids:
                    counts[category_id] += 1
        return counts

    def _make_listing(self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None) -> Listing[App]:
        subset = narrowed.subset
        if subset.among or subset.without:  # nearly everybody has others: cut out of a listing that people share
            shared = replace(narrowed, subset=replace(subset, among=frozenset(), without=frozenset()))
            return self._listing(shared, key, direction).only(subset.admits)
        matching = self._matching(narrowed)
        apps = [self._by_row[row] for row in filter(matching.__getitem__, self._sorted(key, direction == "asc"))]
        if narrowed.words and key is None and direction is None:
            return Listing(grouped(apps, narrowed.words), nearest_first(narrowed.words))
        return Listing(apps, order(key, direction))

    def _sort(self, key: SortKey | None, lightest_first: bool) -> tuple[int, ...]:
        by = order(key, "asc" if lightest_first else None)
        return tuple(sorted(self._by_row, key=lambda row: by.key_of(self._by_row[row])))

    def _match(self, narrowed: Filter) -> bytes:
        """One byte for each row number, which is not 0 where the row matches; sets would take forty times as much."""
        matching: Collection[int] = self._by_row.keys() if narrowed.words is None else self._full_text(narrowed.words)
        if narrowed.narrows:
            matching = [row for row in matching if narrowed.admits(self._by_row[row])]
        mask = bytearray(max(self._by_row, default=0) + 1)
        for row in matching:
            mask[row] = 1
        return bytes(mask)

    def _full_text(self, words: tuple[str, ...]) -> list[int]:
        """The rows that hold all of ``words``; where there is none, those whose names nearly do ("gogle shets")."""
        if not words:
            return []
        return self._holding([[word] for word in words]) or self._holding([[word, *self._near(word)] for word in words])

    def _holding(self, choices: Sequence[Sequence[str]]) -> list[int]:
        """The rows in which a word begins with one of each of ``choices``."""
        query = " AND ".join("({})".format(" OR ".join(f'"{word}"*' for word in words)) for words in choices)
        return [row for row in orjson.loads(self._index(query)) if row in self._by_row]

    def _near(self, word: str) -> list[str]:
        """Words of the names of apps that are spelt almost like ``word``; none of them can be search syntax."""
        if len(word) < _SHORTEST or not word.isalpha():
            return []
        from rapidfuzz import fuzz, process

        near = process.extract(word, self._names, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=_MOST_NEAR)
        return [name for name, _score, _place in near]

    @functools.cached_property
    def _names(self) -> list[str]:
        apps = self._by_row.values()
        return sorted({name for app in apps for name in (*words(app.name_words), app.slug.replace("_", ""))})
