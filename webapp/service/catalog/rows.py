"""The rows of ``catalog.db`` as apps and categories, in the forms that the running service keeps in memory.

An app that needs a variable which this installation lacks is left out.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from webapp.kit.crypto import stable_id
from webapp.kit.kept_json import kept_json
from webapp.kit.text import fold
from webapp.service.catalog import variables as placeholders
from webapp.service.catalog.app import App
from webapp.service.catalog.listing import words
from webapp.service.catalog.spec import AppSpec

APPS = (
    "SELECT id, slug, name, description, auth_type, categories, category_names, featured_weight, custom_fields, "
    "scope_profiles, logo_hash, actions, triggers, variables, aliases, own FROM apps ORDER BY slug"
)
FAMILIES = (
    "SELECT slug, json_extract(spec, '$.oauth.family') AS family FROM apps "
    "WHERE json_extract(spec, '$.oauth.family') IS NOT NULL ORDER BY name"
)
WAYS = (
    "SELECT slug, json_extract(spec, '$.of') AS family FROM apps "
    "WHERE json_extract(spec, '$.of') IS NOT NULL ORDER BY name"
)
UNLISTED = "SELECT name FROM unlisted"
CATEGORIES = "SELECT slug, name, description FROM categories"
_DISTINCT = 512
Rows = Iterable[sqlite3.Row]
ReadSpec = Callable[[str], AppSpec]


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


def apps(
    rows: Rows, public_url: str, variables: Mapping[str, str], read_spec: Callable[[str], AppSpec]
) -> dict[int, App]:
    """The apps by their row numbers; ``public_url`` is where logos are served."""
    return {
        row["id"]: _app(row, public_url, variables, read_spec)
        for row in rows
        if _names(row["variables"]) <= variables.keys()
    }


def by_name(apps: Collection[App]) -> dict[str, App]:
    """``apps`` by slug, id and alias; what one has as its slug is no other's alias."""
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
    """The slugs of ``apps`` (by slug) in each family, by the name of the family; for :data:`WAYS`, by the slug of what
    they are other ways to connect."""
    pairs = [(row["family"], row["slug"]) for row in rows if row["slug"] in apps]
    return {family: tuple(slug for name, slug in pairs if name == family) for family, _slug in pairs}


def _app(row: sqlite3.Row, public_url: str, variables: Mapping[str, str], read_spec: ReadSpec) -> App:
    slug = row["slug"]
    public = {
        "id": stable_id("app", slug),
        "name_slug": slug,
        "name": row["name"],
        "img_src": f"{public_url}/logos/{slug}.svg?v={row['logo_hash']}",
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
        json=kept_json(public),
        read_spec=read_spec,
    )


# Thousands of apps say the same of these: they share what they say it with.


@lru_cache(_DISTINCT)
def _texts(array: str) -> tuple[str, ...]:
    return tuple(json.loads(array))


@lru_cache(_DISTINCT)
def _names(array: str) -> frozenset[str]:
    return frozenset(_texts(array))


@lru_cache(_DISTINCT)
def _category_ids(array: str) -> tuple[str, ...]:
    return tuple(stable_id("appcat", category) for category in _texts(array))
