"""The catalog at run time: apps by slug or id, categories, components, and search. Threads may share one.

It reads a ``catalog.db`` that never changes. What lists show is kept in memory (``rows``); full-text matching and
whole specs are read from the file through one connection. Building the file is ``build``'s.
"""

import functools
import sqlite3
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from webapp.kit import cursors
from webapp.service.catalog import rows
from webapp.service.catalog import variables as placeholders
from webapp.service.catalog.app import App
from webapp.service.catalog.components import ComponentFilter, ComponentInfo, Components
from webapp.service.catalog.listing import (
    EVERYTHING,
    Filter,
    Listing,
    SortDirection,
    SortKey,
    Subset,
    grouped,
    nearest_first,
    order,
)
from webapp.service.catalog.rows import Category
from webapp.service.catalog.spec import AppSpec

__all__ = ["App", "Catalog", "Category"]


class Catalog:
    """All apps of one installation. Open it with :meth:`open`, give it back with :meth:`close`."""

    def __init__(
        self, connection: sqlite3.Connection, public_url: str, variables: Mapping[str, str], folder: Path
    ) -> None:
        self._connection, self._lock, self._variables = connection, threading.Lock(), dict(variables)
        # The catalog never changes, so whatever was found may be kept.
        self._spec = functools.lru_cache(maxsize=256)(self._read_spec)
        self._sorted = functools.lru_cache(maxsize=8)(self._sort)
        self._listing = functools.lru_cache(maxsize=64)(self._make_listing)
        self._matching = functools.lru_cache(maxsize=64)(self._match)
        self._embedded = functools.lru_cache(maxsize=1024)(self._embed)
        self._by_row = rows.apps(self._rows(rows.APPS), public_url, self._variables, self._spec)
        self._by_name = {key: app for app in self._by_row.values() for key in (app.slug, app.id)}
        self._categories = rows.categories(self._rows(rows.CATEGORIES), self._by_row.values())
        self._components = Components(
            rows.components(self._rows(rows.COMPONENTS), self._by_name, self._variables, folder)
        )

    @classmethod
    def open(cls, path: Path, *, public_url: str, variables: Mapping[str, str] | None = None) -> "Catalog":
        """Open the built catalog at ``path``.

        ``public_url`` is where logos are served; ``variables`` fill ``${name}`` in app.toml, and an app that needs
        one that is missing is left out.
        """
        # immutable: a rebuild puts a new file in place of this one and never writes into it.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        connection.row_factory = sqlite3.Row
        try:
            return cls(connection, public_url.rstrip("/"), variables or {}, path.absolute().parent)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Give the file back. Apps that were handed out keep their listed facts."""
        with self._lock:
            self._connection.close()

    def __len__(self) -> int:
        return len(self._by_row)

    def app(self, slug_or_id: str) -> App | None:
        """The app with that slug or id, or None."""
        return self._by_name.get(slug_or_id)

    def apps(self, slugs_or_ids: Iterable[str]) -> list[App]:
        """The apps with those slugs or ids, in that order; unknown ones are left out."""
        return [app for name in slugs_or_ids if (app := self._by_name.get(name))]

    def embedded(self, slug: str, oauth_app_id: str | None) -> orjson.Fragment | None:
        """The App object of ``slug`` with the OAuth client that a connection uses, to stand in other JSON; or None."""
        return self._embedded(slug, oauth_app_id)

    def search(
        self,
        *,
        q: str | None = None,
        category_ids: Sequence[str] = (),
        has_components: bool | None = None,
        has_actions: bool | None = None,
        has_triggers: bool | None = None,
        sort_key: SortKey | None = None,
        sort_direction: SortDirection | None = None,
        subset: Subset = EVERYTHING,
        window: cursors.Window = cursors.Window(),  # noqa: B008 - frozen
    ) -> cursors.Page[App]:
        """One page of the apps (contract "Apps"). Raises :class:`cursors.BadCursor`.

        ``q``: every word must begin a word of the name, slug, description or a category, whatever its case, accents
        and punctuation. ``category_ids``: in any of these. A ``has_`` filter narrows when true. Featured apps come
        first by default (in a search, names that match before descriptions); by ``name`` and ``name_slug`` the
        direction is ``asc`` unless given.
        """
        narrowed = Filter.of(q, category_ids, has_components, has_actions, has_triggers, subset)
        mark = cursors.fingerprint("apps", *narrowed.parts, sort_key, sort_direction)
        return self._listing(narrowed, sort_key, sort_direction).page(window, mark)

    def categories(self) -> list[Category]:
        """Every category that holds an app, by name."""
        return list(self._categories)

    def category(self, category_id: str) -> Category | None:
        """The category with that id, or None."""
        return next((category for category in self._categories if category.id == category_id), None)

    def category_counts(
        self,
        *,
        q: str | None = None,
        has_components: bool | None = None,
        has_actions: bool | None = None,
        has_triggers: bool | None = None,
    ) -> dict[str, int]:
        """How many apps each category id would show under the same search and filters; all ids, zeros too."""
        counts = {category.id: 0 for category in self._categories}
        for row in self._matching(Filter.of(q, (), has_components, has_actions, has_triggers)):
            for category_id in self._by_row[row].category_ids:
                counts[category_id] += 1
        return counts

    def component(self, key_or_id: str, version: str | None = None) -> ComponentInfo | None:
        """The component with that key or ``sc_…``, in exactly that version or its highest release; or None."""
        return self._components.get(key_or_id, version)

    def components(self, narrowed: ComponentFilter, window: cursors.Window) -> cursors.Page[ComponentInfo]:
        """One page of the components, each in its highest release. Raises :class:`cursors.BadCursor`."""
        return self._components.search(narrowed, window)

    def logo(self, slug: str) -> bytes | None:
        """The SVG of an app's logo, or None when there is no such app."""
        app = self._by_name.get(slug)
        if app is None:
            return None
        (row,) = self._rows("SELECT logo FROM apps WHERE slug = ?", app.slug)
        return str(row["logo"]).encode()

    def _embed(self, slug: str, oauth_app_id: str | None) -> orjson.Fragment | None:
        app = self._by_name.get(slug)
        return orjson.Fragment(app.with_client(oauth_app_id)) if app else None

    def _make_listing(self, narrowed: Filter, key: SortKey | None, direction: SortDirection | None) -> Listing[App]:
        matching = self._matching(narrowed)
        apps = [self._by_row[row] for row in filter(matching.__contains__, self._sorted(key, direction == "asc"))]
        if narrowed.words and key is None and direction is None:
            return Listing(grouped(apps, narrowed.words), nearest_first(narrowed.words))
        return Listing(apps, order(key, direction))

    def _sort(self, key: SortKey | None, lightest_first: bool) -> tuple[int, ...]:
        by = order(key, "asc" if lightest_first else None)
        return tuple(sorted(self._by_row, key=lambda row: by.key_of(self._by_row[row])))

    def _match(self, narrowed: Filter) -> frozenset[int]:
        matching: Collection[int] = self._by_row.keys() if narrowed.words is None else self._full_text(narrowed.words)
        if narrowed.narrows:
            matching = [row for row in matching if narrowed.admits(self._by_row[row])]
        return frozenset(matching)

    def _full_text(self, words: tuple[str, ...]) -> list[int]:
        if not words:
            return []
        query = " ".join(f'"{word}"*' for word in words)
        # One array, because to step through thousands of rows costs more than to find them.
        ((matching,),) = self._rows("SELECT json_group_array(rowid) FROM words_fts WHERE words_fts MATCH ?", query)
        return [row for row in orjson.loads(matching) if row in self._by_row]

    def _read_spec(self, slug: str) -> AppSpec:
        (row,) = self._rows("SELECT spec FROM apps WHERE slug = ?", slug)
        return AppSpec.model_validate_json(placeholders.expand_json(row["spec"], self._variables))

    def _rows(self, sql: str, *params: str) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(sql, params).fetchall()
