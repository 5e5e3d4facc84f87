"""The catalog at run time: apps by slug or id, categories, and search, over a ``catalog.db`` that never changes.

The listed facts of every app are kept in memory; full-text matching and whole specs are read from the file through
one connection. Safe to use from many threads. Building the file is ``build``'s.
"""

import functools
import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from webapp.kit import cursors
from webapp.kit.ids import stable_id
from webapp.service.catalog import variables as placeholders
from webapp.service.catalog.app import App
from webapp.service.catalog.components import OWN, ComponentFilter, ComponentInfo, Components, component
from webapp.service.catalog.filters import Filter, fold, words
from webapp.service.catalog.listing import Listing, SortDirection, SortKey, grouped, nearest_first, order
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.catalog.spec import AppSpec

__all__ = ["App", "Catalog", "Category"]

_LISTED = (
    "SELECT id, slug, name, description, auth_type, categories, category_names, featured_weight, custom_fields, "
    "scope_profiles, logo_hash, actions, triggers, variables, own FROM apps ORDER BY slug"
)


@dataclass(frozen=True, slots=True)
class Category:
    """One shelf of the catalog, with the number of its apps."""

    id: str
    slug: str
    name: str
    description: str
    apps: int

    @property
    def api_dict(self) -> dict[str, Any]:
        """As ``GET /v1/connect/app_categories`` shows it."""
        return {"id": self.id, "name": self.name, "description": self.description}


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
        self._by_row = self._load_apps(public_url)
        self._by_name = {key: app for app in self._by_row.values() for key in (app.slug, app.id)}
        self._categories = self._load_categories()
        self._components = Components(self._load_components(folder))

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
        window: cursors.Window = cursors.Window(),  # noqa: B008 - frozen
    ) -> cursors.Page[App]:
        """One page of the apps (specification 4.3). Raises :class:`cursors.BadCursor`.

        ``q``: every word must begin a word of the name, slug, description or a category, whatever its case, accents
        and punctuation. ``category_ids``: in any of these. A ``has_`` filter narrows when true. Featured apps come
        first by default (in a search, names that match before descriptions); by ``name`` and ``name_slug`` the
        direction is ``asc`` unless given.
        """
        narrowed = Filter.of(q, category_ids, has_components, has_actions, has_triggers)
        mark = cursors.fingerprint("apps", *narrowed.parts, sort_key, sort_direction)
        return self._listing(narrowed, sort_key, sort_direction).page(window, mark)

    def categories(self) -> list[Category]:
        """Every category that holds an app, by name."""
        return list(self._categories)

    def category(self, category_id: str) -> Category | None:
        """The category with that id, or None."""
        return next((one for one in self._categories if one.id == category_id), None)

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
        found: Collection[int] = self._by_row.keys() if narrowed.words is None else self._full_text(narrowed.words)
        if narrowed.narrows:
            found = [row for row in found if narrowed.admits(self._by_row[row])]
        return frozenset(found)

    def _full_text(self, words: tuple[str, ...]) -> list[int]:
        if not words:
            return []
        query = " ".join(f'"{word}"*' for word in words)
        # One array, because to step through thousands of rows costs more than to find them.
        ((found,),) = self._rows("SELECT json_group_array(rowid) FROM words_fts WHERE words_fts MATCH ?", query)
        return [row for row in orjson.loads(found) if row in self._by_row]

    def _load_apps(self, public_url: str) -> dict[int, App]:
        rows = self._rows(_LISTED)
        known = self._variables.keys()
        return {row["id"]: self._app(row, public_url) for row in rows if set(json.loads(row["variables"])) <= known}

    def _app(self, row: sqlite3.Row, public_url: str) -> App:
        slug, categories = row["slug"], json.loads(row["categories"])
        public = {
            "id": stable_id("app", slug),
            "name_slug": slug,
            "name": row["name"],
            "img_src": f"{public_url}/logos/{slug}.svg?v={row['logo_hash']}",
            "custom_fields_json": placeholders.expand_json(row["custom_fields"], self._variables),
            "categories": json.loads(row["category_names"]),
            "featured_weight": row["featured_weight"],
            "description": row["description"],
            "auth_type": row["auth_type"],
            "scope_profiles": json.loads(row["scope_profiles"]),
            "oauth_app_id": None,  # last, so that App.with_client can put a project's own in its place
        }
        return App(
            id=public["id"],
            slug=slug,
            name=row["name"],
            sort_name=fold(row["name"]),
            name_words="\n".join(("", fold(row["name"]), f"{slug} {' '.join(words(row['name'] + ' ' + slug))}")),
            description=row["description"],
            auth_type=row["auth_type"],
            category_ids=tuple(stable_id("appcat", one) for one in categories),
            categories=tuple(public["categories"]),
            featured_weight=row["featured_weight"],
            img_src=public["img_src"],
            actions=row["actions"],
            triggers=row["triggers"],
            variables=frozenset(json.loads(row["variables"])),
            own=bool(row["own"]),
            json=orjson.dumps(public),
            read_spec=self._spec,
        )

    def _load_categories(self) -> tuple[Category, ...]:
        shelved = [category_id for app in self._by_row.values() for category_id in app.category_ids]
        rows = self._rows("SELECT slug, name, description FROM categories")
        found = [
            Category(category_id, row["slug"], row["name"], row["description"], shelved.count(category_id))
            for row in rows
            if (category_id := stable_id("appcat", row["slug"])) in shelved
        ]
        return tuple(sorted(found, key=lambda one: fold(one.name)))

    def _load_components(self, folder: Path) -> Iterator[ComponentInfo]:
        """Every component but those of apps that do not exist here; ``folder`` is where the catalog stands."""
        for row in self._rows("SELECT * FROM components ORDER BY key, version"):
            app = self._by_name.get(row["app"]) if row["app"] else None
            if app is not None or row["key"].startswith(OWN):
                root = BUILT_IN if row["root"] is None else (folder / row["root"]).resolve()
                told = placeholders.fill(row["description"], self._variables)
                yield component({**dict(row), "description": told}, app.name if app else None, root)

    def _read_spec(self, slug: str) -> AppSpec:
        (row,) = self._rows("SELECT spec FROM apps WHERE slug = ?", slug)
        return AppSpec.model_validate_json(placeholders.expand_json(row["spec"], self._variables))

    def _rows(self, sql: str, *params: str) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(sql, params).fetchall()
