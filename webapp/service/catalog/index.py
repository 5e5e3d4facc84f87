"""The catalog at run time: apps by slug or id, categories, components and search. Safe to share between threads.

It reads a ``catalog.db`` that never changes: a build replaces the file, and :meth:`Catalog.refresh` opens the new one
while others continue to read the old one. The list fields of apps are kept in memory; everything else is read through
one connection. An app that needs a variable that this installation does not have is left out.
"""

import functools
import json
import sqlite3
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from webapp.kit import cursors
from webapp.kit.compact_json import compact_json
from webapp.kit.crypto import stable_id
from webapp.kit.text import fold
from webapp.service.catalog import variables as placeholders
from webapp.service.catalog.app import App, Category
from webapp.service.catalog.components import ComponentFilter, ComponentInfo, Components, component
from webapp.service.catalog.search import (
    EVERYTHING,
    ByState,
    Filter,
    Search,
    SortDirection,
    SortKey,
    States,
    Subset,
    words,
)
from webapp.service.catalog.spec import AppSpec
from webapp.service.catalog.tool_search import ToolSearch
from webapp.service.components.tool_names import ToolNames

__all__ = ["App", "Catalog", "Category"]
_SELECT_APPS = (
    "SELECT id, slug, name, description, auth_type, categories, category_names, featured_weight, custom_fields, "
    "scope_profiles, logo_hash, actions, triggers, variables, aliases, own, server, origin, signs_in "
    "FROM apps ORDER BY slug"
)
_SELECT_FAMILIES = (
    "SELECT slug, coalesce(json_extract(spec, '$.oauth.family'), json_extract(spec, '$.sign_in.oauth.family')) "
    "AS family FROM apps WHERE family IS NOT NULL ORDER BY name"
)
_SELECT_WAYS = (
    "SELECT slug, COALESCE(json_extract(spec, '$.of'), json_extract(spec, '$.mcp.beside')) AS family FROM apps "
    "WHERE family IS NOT NULL ORDER BY name"
)
_SELECT_UNLISTED = "SELECT name FROM unlisted"
_SELECT_CATEGORIES = "SELECT slug, name, description FROM categories"
_MOST_DISTINCT = 512
Rows = Iterable[sqlite3.Row]
ReadSpec = Callable[[str], AppSpec]


class _Contents:
    """The contents of one file. It is closed by garbage collection, or by :meth:`close`."""

    def __init__(self, path: Path, public_url: str, variables: Mapping[str, str]) -> None:
        # immutable: a build replaces the file and never writes to it.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._lock, self._variables = threading.Lock(), dict(variables)
        self.close = weakref.finalize(self, self._connection.close)
        try:
            self._load(public_url, path.absolute().parent)
        except BaseException:
            self.close()
            raise

    def _load(self, public_url: str, folder: Path) -> None:
        spec = functools.lru_cache(maxsize=256)(self._read_spec)
        every = self._rows(_SELECT_APPS)
        by_row = apps(every, public_url, self._variables, spec)
        self.by_name = by_name(by_row.values())
        self.count, self.by_family = len(by_row), families(self._rows(_SELECT_FAMILIES), self.by_name)
        self.by_base = families(self._rows(_SELECT_WAYS), self.by_name)
        self.by_document = {app.origin["directory"]: app.slug for app in by_row.values() if app.origin}
        self.embedded = functools.lru_cache(maxsize=1024)(self._embed)
        unlisted = {row["name"] for row in self._rows(_SELECT_UNLISTED)}
        listed = {row: app for row, app in by_row.items() if app.slug not in unlisted} if unlisted else by_row
        self.categories = categories(self._rows(_SELECT_CATEGORIES), listed.values())
        make = functools.partial(component, variables=self._variables, folder=folder)
        hidden = {row["slug"] for row in every} - {app.slug for app in by_row.values()}
        self.components = Components(self._rows, make, hidden, unlisted=unlisted, app_name=self._app_name)
        self.tools = ToolSearch(self._rows, hidden, unlisted)
        self.search = Search(listed.values(), self.categories)

    def logo(self, slug: str) -> bytes:
        """The SVG of the logo of the app ``slug``."""
        (row,) = self._rows("SELECT logo FROM apps WHERE slug = ?", [slug])
        return str(row["logo"]).encode()

    def _embed(self, slug: str, oauth_app_id: str | None) -> orjson.Fragment | None:
        app = self.by_name.get(slug)
        return orjson.Fragment(app.with_client(oauth_app_id)) if app else None

    def _app_name(self, slug: str) -> str:
        app = self.by_name.get(slug)
        return app.name if app else ""

    def _read_spec(self, slug: str) -> AppSpec:
        (row,) = self._rows("SELECT spec FROM apps WHERE slug = ?", [slug])
        return AppSpec.model_validate_json(placeholders.expand_json(row["spec"], self._variables))

    def _rows(self, sql: str, params: Mapping[str, Any] | Sequence[str] = ()) -> list[sqlite3.Row]:
        try:
            with self._lock:
                return self._connection.execute(sql, params).fetchall()
        except UnicodeEncodeError:  # half a surrogate pair, which is in no row
            return []


class Catalog:
    """All apps of an installation. Open it with :meth:`open` and close it with :meth:`close`."""

    def __init__(self, path: Path, public_url: str, variables: Mapping[str, str]) -> None:
        self._path, self._public_url, self._variables = path, public_url, variables
        self._refreshing, self._mark = threading.Lock(), _mark(path)
        self._contents = _Contents(path, public_url, variables)
        self._listeners: list[Callable[[], None]] = []

    @classmethod
    def open(cls, path: Path, *, public_url: str, variables: Mapping[str, str] | None = None) -> "Catalog":
        """Open the built catalog at ``path``.

        ``public_url`` is where logos are served; ``variables`` are the values of ``${name}``.
        """
        return cls(path, public_url.rstrip("/"), variables or {})

    def close(self) -> None:
        """Close the file. Apps that were returned before keep their list fields."""
        self._contents.close()

    def refresh(self) -> bool:
        """Open the file again if it was rebuilt. Returns whether it was.

        Apps that were returned before do not change. Raises ``OSError`` and ``sqlite3.Error``.
        """
        with self._refreshing:
            mark = _mark(self._path)
            if mark == self._mark:
                return False
            self._contents, self._mark = _Contents(self._path, self._public_url, self._variables), mark
        for listener in self._listeners:
            listener()
        return True

    def when_refreshed(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after each :meth:`refresh` that opened a new file."""
        self._listeners.append(listener)

    def __len__(self) -> int:
        return self._contents.count

    def app(self, slug_or_id: str) -> App | None:
        """The app with that slug, alias or id, or None."""
        return self._contents.by_name.get(slug_or_id)

    def apps(self, slugs_or_ids: Iterable[str]) -> list[App]:
        """The apps with those slugs or ids, in that order, without unknown ones."""
        by_name = self._contents.by_name
        return [app for name in slugs_or_ids if (app := by_name.get(name))]

    def named(self, name: str) -> list[App]:
        """The apps whose display name is ``name``, ignoring case."""
        known = {app.slug: app for app in self._contents.by_name.values()}
        return [app for app in known.values() if app.name.casefold() == name.casefold()]

    def imported(self, document: str) -> str:
        """The slug of the app that was imported from that document of the public directory; "" for none."""
        return self._contents.by_document.get(document, "")

    def family(self, name: str) -> tuple[str, ...]:
        """The slugs of the apps in the family ``name``, which can share an OAuth client; sorted by name."""
        return self._contents.by_family.get(name, ())

    def ways(self, app: App) -> list[App]:
        """The apps that connect the same service as ``app`` in another way."""
        spec = app.spec
        base = spec.of or (spec.mcp and spec.mcp.beside) or app.slug
        slugs = (base, *self._contents.by_base.get(base, ()))
        return [other for other in self.apps(slugs) if other.slug != app.slug]

    def embedded(self, slug: str, oauth_app_id: str | None) -> orjson.Fragment | None:
        """The App object of ``slug`` with a connection's OAuth client, for embedding in other JSON; or None."""
        return self._contents.embedded(slug, oauth_app_id)

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
        """A page of the apps (contract "Apps"). Raises :class:`cursors.BadCursor`.

        Each word of ``q`` must begin a word of the name, slug, description or a category, ignoring case, accents and
        punctuation; without any match, similar words match, too. Apps must be in one of ``category_ids``. A ``has_``
        filter applies only if it is true. By default featured apps come first, or in a search matches of names; sorting
        by ``name`` and ``name_slug`` is ascending by default.
        """
        narrowed = Filter.of(q, category_ids, has_components, has_actions, has_triggers, subset)
        return self.page(narrowed, sort_key, sort_direction, window)

    def page(
        self, narrowed: Filter, sort_key: SortKey | None, sort_direction: SortDirection | None, window: cursors.Window
    ) -> cursors.Page[App]:
        """:meth:`search` with all filters in one. Raises :class:`cursors.BadCursor`."""
        return self._contents.search.page(narrowed, sort_key, sort_direction, window)

    def by_state(
        self,
        narrowed: Filter,
        sort_key: SortKey | None,
        sort_direction: SortDirection | None,
        window: cursors.Window,
        states: States,
    ) -> ByState:
        """:meth:`page` by state, with the number of apps in each. Raises :class:`cursors.BadCursor`."""
        return self._contents.search.by_state(narrowed, sort_key, sort_direction, window, states)

    def categories(self) -> list[Category]:
        """Every category that holds an app, by name."""
        return list(self._contents.categories)

    def category(self, category_id: str) -> Category | None:
        """The category with that id, or None."""
        return next((category for category in self._contents.categories if category.id == category_id), None)

    def category_counts(self, narrowed: Filter) -> dict[str, int]:
        """The number of apps that match by category id, including categories without any."""
        return self._contents.search.counts(narrowed)

    def component(self, key_or_id: str, version: str | None = None) -> ComponentInfo | None:
        """The component with that key or ``sc_…``, in exactly that version or its highest release; or None."""
        return self._contents.components.get(key_or_id, version)

    def components(
        self, narrowed: ComponentFilter, window: cursors.Window, connected: Collection[str] = ()
    ) -> cursors.Page[ComponentInfo]:
        """One page of the components, each in its highest release; of a search, those of the apps ``connected`` first.

        Raises :class:`cursors.BadCursor`.
        """
        return self._contents.components.search(narrowed, window, connected)

    def keys(self, slug: str) -> list[str]:
        """The keys of all components of the app ``slug``."""
        return self._contents.components.keys(slug)

    def tags(self, keys: Collection[str]) -> dict[str, str]:
        """The tags of those of ``keys`` that are operations of an app's whole API, by key."""
        return self._contents.components.tags(keys)

    def find_actions(
        self, sentence: str, *, connected: Collection[str], only: Collection[str], without: Collection[str], limit: int
    ) -> list[str]:
        """The keys of the actions that do what ``sentence`` asks for, the likeliest first, at most ``limit``.

        Those of the apps ``connected`` are preferred. ``only``, unless it is empty, and ``without`` choose the apps.
        """
        return self._contents.tools.find(sentence, connected=connected, only=only, without=without, limit=limit)

    def tool_names(self) -> ToolNames:
        """The tool names of the actions for agents."""
        return self._contents.components.tool_names

    def logo(self, slug: str) -> bytes | None:
        """The SVG of an app's logo, or None when there is no such app."""
        contents = self._contents
        app = contents.by_name.get(slug)
        return contents.logo(app.slug) if app else None


def _mark(path: Path) -> tuple[int, int, int]:
    """The inode, time and size of a file, which differ after it was replaced."""
    return (facts := path.stat()).st_ino, facts.st_mtime_ns, facts.st_size


def apps(
    rows: Rows, public_url: str, variables: Mapping[str, str], read_spec: Callable[[str], AppSpec]
) -> dict[int, App]:
    """The apps by their row numbers; ``public_url`` is where logos are served, equal ones at one address."""
    usable = [row for row in rows if _names(row["variables"]) <= variables.keys()]
    drawn = {row["logo_hash"]: row["slug"] for row in reversed(usable)}
    return {row["id"]: _app(row, drawn[row["logo_hash"]], public_url, variables, read_spec) for row in usable}


def by_name(apps: Collection[App]) -> dict[str, App]:
    """``apps`` by slug, id and alias; slugs take precedence over aliases."""
    by_alias = {alias: app for app in apps for alias in app.aliases}
    return by_alias | {key: app for app in apps for key in (app.slug, app.id)}


def categories(rows: Rows, apps: Collection[App]) -> tuple[Category, ...]:
    """The categories that hold one of ``apps``, by name."""
    shelved = [category_id for app in apps for category_id in app.category_ids]
    listed = [
        Category(category_id, row["slug"], row["name"], row["description"], shelved.count(category_id))
        for row in rows
        if (category_id := stable_id("appcat", row["slug"])) in shelved
    ]
    return tuple(sorted(listed, key=lambda category: fold(category.name)))


def families(rows: Rows, apps: Mapping[str, App]) -> dict[str, tuple[str, ...]]:
    """The slugs of ``apps`` (by slug) by the column ``family`` of ``rows``: a family, or the app that they replace."""
    pairs = [(row["family"], row["slug"]) for row in rows if row["slug"] in apps]
    return {family: tuple(slug for name, slug in pairs if name == family) for family, _slug in pairs}


def _app(row: sqlite3.Row, logo: str, public_url: str, variables: Mapping[str, str], read_spec: ReadSpec) -> App:
    slug = row["slug"]
    public = {
        "id": stable_id("app", slug),
        "name_slug": slug,
        "name": row["name"],
        "img_src": f"{public_url}/logos/{logo}.svg?v={row['logo_hash']}",
        "custom_fields_json": placeholders.expand_json(row["custom_fields"], variables),
        "categories": _texts(row["category_names"]),
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
        category_ids=_category_ids(row["categories"]),
        categories=public["categories"],
        featured_weight=row["featured_weight"],
        img_src=public["img_src"],
        actions=row["actions"],
        triggers=row["triggers"],
        variables=_names(row["variables"]),
        aliases=_texts(row["aliases"]),
        own=bool(row["own"]),
        server=row["server"],
        origin=json.loads(row["origin"]) if row["origin"] else None,
        json=compact_json(public),
        read_spec=read_spec,
        signs_in=bool(row["signs_in"]),
    )


# Thousands of apps have the same values here, so they share the objects.


@lru_cache(_MOST_DISTINCT)
def _texts(array: str) -> tuple[str, ...]:
    return tuple(json.loads(array))


@lru_cache(_MOST_DISTINCT)
def _names(array: str) -> frozenset[str]:
    return frozenset(_texts(array))


@lru_cache(_MOST_DISTINCT)
def _category_ids(array: str) -> tuple[str, ...]:
    return tuple(stable_id("appcat", category) for category in _texts(array))
