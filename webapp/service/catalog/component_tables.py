"""The tables of ``catalog.db`` in which components are found, as a build writes them.

``components`` holds every version of each. ``listed`` holds each once, in its highest release, in the order of lists:
by its folded name, then by key. Its row numbers are that order, so a page is a range of them. ``listed_words`` has the
words that a search looks in, by the same numbers, and ``other_keys`` the further names of each.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlite_utils import Database

from webapp.kit.crypto import stable_id
from webapp.kit.text import fold
from webapp.service.catalog import aliases
from webapp.service.catalog.components import release
from webapp.service.catalog.listing import words
from webapp.service.catalog.spec import AppSpec

_FACTS = (
    "id", "key", "version", "kind", "app", "name", "description", "json", "prop_aliases", "dedupe", "hooks", "root",
    "path",
)  # fmt: skip
_KEPT = ("key", "version", "kind", "app", "name", "description", "dedupe", "hooks", "root", "path", "has_reload")
# A trigger says nothing of what running it means, but clients that check types expect each hint: it may change
# something out there, since it may subscribe at its app.
_UNSAID = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}
_WORDS = "CREATE VIRTUAL TABLE listed_words USING fts5(name, others, content='', tokenize='unicode61')"


def create(database: Database) -> None:
    """Make them in an empty database."""
    facts = database.table("components")
    facts.create({**dict.fromkeys(_FACTS, str), "has_reload": int}, pk=("key", "version"))
    facts.create_index(["id"], unique=True)
    listed = database.table("listed").create(
        {"n": int, "key": str, "version": str, "sort_name": str, "kind": str, "app": str}, pk="n"
    )
    listed.create_index(["sort_name", "key"], unique=True)
    listed.create_index(["key"], unique=True)
    listed.create_index(["app", "kind"])
    listed.create_index(["kind"])
    database.table("other_keys").create({"other": str, "key": str}, pk="other")
    database.execute(_WORDS)


def write(database: Database, rows: Iterable[Mapping[str, Any]], apps: Mapping[str, AppSpec]) -> None:
    """Write ``rows``, one of each version; ``apps`` are those of the catalog, by slug."""
    every = sorted(rows, key=lambda row: (row["key"], release(row["version"])))
    database.table("components").insert_all(_facts(row, apps.get(row["app"])) for row in every)
    newest = sorted({row["key"]: row for row in every}.values(), key=lambda row: (fold(row["name"]), row["key"]))
    database.table("listed").insert_all(
        {"n": number, "key": row["key"], "version": row["version"], "sort_name": fold(row["name"]),
         "kind": row["kind"], "app": row["app"]}
        for number, row in enumerate(newest, 1)
    )  # fmt: skip
    database.table("other_keys").insert_all(_other_keys(newest, apps), replace=True)
    database.table("listed_words").insert_all(_words(newest, apps))


def _facts(row: Mapping[str, Any], app: AppSpec | None) -> dict[str, Any]:
    """What is kept of one, with its object as the API shows it (contract "Components")."""
    public = {
        "key": row["key"],
        "name": row["name"],
        "version": row["version"],
        "configurable_props": json.loads(row["configurable_props"]),
        "description": row["description"],
        "component_type": row["kind"],
        "annotations": {"title": row["name"], **_UNSAID, **json.loads(row["annotations"])},
    }
    if row["stash"]:
        public["stash"] = row["stash"]
    app_names, declared = (app.slug, *app.aliases) if app else (), json.loads(row["aliases"])["props"]
    return {
        "id": stable_id("sc", row["key"], row["version"]),
        **{name: row[name] for name in _KEPT},
        "json": orjson.dumps(public).decode(),
        "prop_aliases": json.dumps(aliases.prop_names(public["configurable_props"], declared, app_names)),
    }


def _words(newest: Sequence[Mapping[str, Any]], apps: Mapping[str, AppSpec]) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(newest, 1):
        app = apps.get(row["app"])
        name = f"{row['name']} {app.name if app else ''}"
        others = f"{row['key']} {row['app'] or ''} {row['description']}"
        yield {"rowid": number, "name": " ".join(words(name)), "others": " ".join(words(others))}


def _other_keys(newest: Sequence[Mapping[str, Any]], apps: Mapping[str, AppSpec]) -> Iterator[dict[str, str]]:
    own = {row["key"] for row in newest}
    for row in sorted(newest, key=lambda row: str(row["key"])):
        if app := apps.get(row["app"]):
            names = json.loads(row["aliases"])["names"]
            others = aliases.keys((app.slug, *app.aliases), app.slug, row["key"], names)
            yield from ({"other": other, "key": row["key"]} for other in others if other not in own)
