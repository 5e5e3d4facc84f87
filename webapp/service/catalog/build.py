"""Builds ``catalog.db``: the valid apps with logos, components and search indexes, and the problems of all others.

A complete new file replaces the old one, so that readers see one or the other. The fingerprint of the sources tells
whether a catalog is up to date; :data:`VERSION` is part of it and must change with the tables. Reading the file is left
to ``index``. The table ``components`` has every version of each component. ``listed`` has each component once, in its
highest version, numbered in the order of lists (by folded name, then by key), so that a page is a range of numbers;
operations of an app's whole API come after all others, by their tags.
``listed_words`` has the words for full-text search by the same numbers, and ``other_keys`` the aliases. The tables of
``tool_search`` have the words by which agents find actions. ``declarations`` and ``toml`` are for the next build, which
reads each file once and works out what differs.
"""

import json
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from sqlite_utils import Database

from webapp.kit.crypto import stable_id
from webapp.kit.scratch import Scratch
from webapp.kit.text import fold
from webapp.service.catalog import (
    aliases,
    declarations,
    hosted_servers,
    logos,
    registry_keys,
    sources,
    tool_search,
    variables,
    variants,
)
from webapp.service.catalog.check import Verdict, judge
from webapp.service.catalog.components import LAST, component_words, release
from webapp.service.catalog.declarations import Declare, Declared
from webapp.service.catalog.sources import Files, Places, Source
from webapp.service.catalog.spec import AppSpec, Category
from webapp.service.catalog.tables import insert, packed
from webapp.service.components.runner import Runner

VERSION = 14
_FACT_COLUMNS = (
    "id", "key", "version", "kind", "app", "name", "description", "json", "prop_aliases", "dedupe", "hooks", "root",
    "path",
)  # fmt: skip
_COMPONENT_COLUMNS = (
    "key",
    "version",
    "kind",
    "app",
    "name",
    "description",
    "dedupe",
    "hooks",
    "root",
    "path",
    "has_reload",
)
# Clients that check types expect every hint, also for triggers, which do not declare them. A trigger may change
# something at the provider, since it may subscribe there.
_DEFAULT_ANNOTATIONS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}
_UNTIL_DONE = ("PRAGMA synchronous = OFF", "PRAGMA journal_mode = OFF")
"""A draft that is broken off is thrown away, so that only the whole one is written to the disk for good."""
_CREATE_WORDS = "CREATE VIRTUAL TABLE listed_words USING fts5(name, others, content='', tokenize='unicode61')"


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The result of a build. ``problems`` are ``path: sentence``; their apps or components are left out."""

    apps: int
    problems: tuple[str, ...]
    fingerprint: str
    built: bool


def build(target: Path, places: Places, declare: Declare | None = None) -> BuildReport:
    """Build the catalog of the sources in ``places`` and write it to ``target``.

    ``declare`` calls an existing runner; without it, the build starts its own.
    """
    return _build(target, Files.of(places), declare)


def _build(target: Path, read: Files, declare: Declare | None) -> BuildReport:
    before, mark = _Before.of(target), _fingerprint(read)
    catalog_sources = sources.read_from(read, before.toml)
    verdict = judge(catalog_sources)
    target.parent.mkdir(parents=True, exist_ok=True)
    files = [component for source in verdict.sound for component in source.components] + catalog_sources.components
    with Runner.start() as runner:  # its process starts with the first call
        declared, problems = declarations.declared(files, declare or runner.call, before.declared)
    declared = _without_deaf(declared, verdict)
    facts = [(each.component, each.facts) for each in declared]
    wrong_keys = declarations.registry_problems(verdict.sound, facts)
    problems += declarations.registry_lines(wrong_keys)
    report = BuildReport(len(verdict.sound), (*verdict.problems, *problems), mark, built=True)
    with Scratch(".catalog-", target.parent) as folder:
        draft = folder / "catalog.db"
        with closing(Database(draft)) as database:
            for pragma in _UNTIL_DONE:
                database.execute(pragma)
            keys = _sound_keys(verdict.sound, wrong_keys)
            _write(database, verdict, catalog_sources.categories, declared, keys, target.absolute().parent)
            kept = catalog_sources.toml.kept.items()
            insert(database, "toml", ({"digest": digest, "fields": fields} for digest, fields in kept))
            insert(database, "unlisted", ({"name": name} for name in sources.read_unlisted(read.places.pieces)))
            written = {"apps": report.apps, "problems": report.problems, "fingerprint": mark}
            insert(database, "build", [{"report": json.dumps(written)}])
        _sync(draft)
        draft.replace(target)
    return report


def _sync(file: Path) -> None:
    """Wait until ``file`` is on the disk."""
    with file.open("rb") as written:
        os.fsync(written.fileno())


def ensure(target: Path, places: Places, declare: Declare | None = None) -> BuildReport:
    """Build the catalog unless ``target`` is up to date. Arguments as in :func:`build`."""
    existing, read = _existing(target), Files.of(places)
    if existing is not None and existing.fingerprint == _fingerprint(read):
        return existing
    return _build(target, read, declare)


def _fingerprint(read: Files) -> str:
    """A value that changes exactly when a build from what was ``read`` would have another result."""
    return f"{VERSION} {logos.source()} {declarations.forms_digest()} {read.digest}"


@dataclass(frozen=True, slots=True)
class _Before:
    """What the last build has read, which need not be read again where it is the same: what components ``declared``, by
    their marks, and what ``toml`` says, by the hashes of files."""

    declared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    toml: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, target: Path) -> "_Before":
        """What the catalog at ``target`` keeps; nothing if it is missing or not a catalog."""
        try:
            with closing(sqlite3.connect(f"{target.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                rows = connection.execute("SELECT mark, facts FROM declarations").fetchall()
                toml = dict(connection.execute("SELECT digest, fields FROM toml").fetchall())
            return cls({mark: orjson.loads(facts) for mark, facts in rows}, toml)
        except (sqlite3.Error, ValueError):
            return cls()


def _existing(target: Path) -> BuildReport | None:
    """The report of the build that wrote ``target``, or None if it is missing or not a catalog."""
    if not target.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{target.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            ((text,),) = connection.execute("SELECT report FROM build").fetchall()
        report = json.loads(text)
        return BuildReport(report["apps"], tuple(report["problems"]), report["fingerprint"], built=False)
    except (sqlite3.Error, ValueError, KeyError, TypeError):
        return None


def _without_deaf(declared: Sequence[Declared], verdict: Verdict) -> list[Declared]:
    """``declared`` without triggers whose apps cannot receive their events."""
    with_events = {source.spec.slug for source in verdict.sound if source.spec.event_webhook is not None}

    def is_deaf(each: Declared) -> bool:
        props = each.facts["configurable_props"]
        return variants.is_deaf(each.component, props, with_events=each.component.app in with_events)

    return [each for each in declared if not is_deaf(each)]


def _sound_keys(
    apps: Iterable[sources.Source], wrong: Mapping[str, Mapping[str, object]]
) -> dict[str, registry_keys.Keys]:
    """The keys of the public registry that each app answers, by its slug, without the ``wrong`` ones."""
    sound: dict[str, registry_keys.Keys] = {}
    for app in apps:
        problems = wrong.get(app.of or app.spec.slug, {})
        sound[app.spec.slug] = {name: key for name, key in app.keys.items() if name not in problems}
    return sound


def _write(
    database: Database,
    verdict: Verdict,
    categories: dict[str, Category],
    declared: Sequence[Declared],
    keys: Mapping[str, registry_keys.Keys],
    beside: Path,
) -> None:
    apps = sorted(verdict.sound, key=lambda source: source.spec.slug)
    kinds = _kinds(declared)
    rows = [_app(row, source, categories, kinds[source.spec.slug]) for row, source in enumerate(apps, 1)]
    create_tables(database)
    insert(database, "apps", rows)
    insert(database, "categories", (category.model_dump() for category in categories.values()))
    specs = {source.spec.slug: source.spec for source in apps}
    write_components(database, (each.row(beside, keys.get(each.component.app or "", {})) for each in declared), specs)
    facts_by_mark = sorted({component.mark: component.facts for component in declared}.items())
    insert(database, "declarations", ({"mark": mark, "facts": packed(facts)} for mark, facts in facts_by_mark))


def create_tables(database: Database) -> None:
    """Create all tables in an empty database."""
    texts = (
        "slug", "name", "description", "auth_type", "categories", "category_names", "custom_fields", "scope_profiles",
        "logo", "logo_hash", "variables", "aliases", "server", "origin", "spec",
    )  # fmt: skip
    numbers = ("id", "featured_weight", "actions", "triggers", "own", "signs_in")
    apps = database.table("apps").create({**dict.fromkeys(texts, str), **dict.fromkeys(numbers, int)}, pk="id")
    apps.create_index(["slug"], unique=True)
    database.table("categories").create(dict.fromkeys(("slug", "name", "description"), str), pk="slug")
    create_component_tables(database)
    database.table("declarations").create({"mark": str, "facts": str}, pk="mark")
    database.table("toml").create({"digest": str, "fields": str}, pk="digest")
    database.table("unlisted").create({"name": str}, pk="name")
    database.table("build").create({"report": str})


def _kinds(declared: Iterable[Declared]) -> Mapping[str | None, Counter[str]]:
    """How many actions and triggers each app has, by its slug; the versions of a component count once."""
    kinds: defaultdict[str | None, Counter[str]] = defaultdict(Counter)
    for app, kind, _ in {(each.component.app, each.kind, each.component.key) for each in declared}:
        kinds[app][kind] += 1
    return kinds


def _app(row: int, source: Source, categories: dict[str, Category], kinds: Counter[str]) -> dict[str, Any]:
    spec = source.spec
    return {
        "id": row,
        **_app_facts(spec),
        "category_names": json.dumps([categories[slug].name for slug in spec.categories]),
        "actions": kinds["action"],
        "triggers": kinds["trigger"],
        "own": int(source.own),
    }


def _app_facts(spec: AppSpec) -> dict[str, Any]:
    """What an app's row says of the app by itself."""
    logo = logos.svg(spec.name.removesuffix(hosted_servers.SUFFIX), spec.logo)
    kept = spec.model_dump_json(by_alias=True, exclude_defaults=True)
    return {
        "slug": spec.slug,
        "name": spec.name,
        "description": spec.description,
        "auth_type": spec.auth_type,
        "categories": json.dumps(spec.categories),
        "featured_weight": spec.featured_weight,
        "custom_fields": json.dumps([field.to_json() for field in spec.fields]),
        "scope_profiles": json.dumps(
            [{"name": each.name, "scopes": each.scopes} for each in spec.by_sign_in.scope_profiles]
        ),
        "logo": logo,
        "logo_hash": logos.digest(logo),
        "variables": json.dumps(sorted(variables.names(kept))),
        "aliases": json.dumps(spec.aliases),
        "server": spec.mcp.way if spec.mcp else "",
        "signs_in": int(spec.sign_in is not None),
        "origin": spec.origin.model_dump_json() if spec.origin else "",
        "spec": kept,
    }


def create_component_tables(database: Database) -> None:
    """Create the tables of components in an empty database."""
    facts = database.table("components")
    facts.create({**dict.fromkeys(_FACT_COLUMNS, str), "has_reload": int}, pk=("key", "version"))
    facts.create_index(["id"], unique=True)
    listed = database.table("listed").create(
        {"n": int, "key": str, "version": str, "sort_name": str, "kind": str, "app": str, "tag": str}, pk="n"
    )
    listed.create_index(["sort_name", "key"], unique=True)
    listed.create_index(["key"], unique=True)
    listed.create_index(["app", "kind"])
    listed.create_index(["kind"])
    database.table("other_keys").create({"other": str, "key": str}, pk="other")
    database.execute(_CREATE_WORDS)
    tool_search.create_tables(database)


def write_components(database: Database, rows: Iterable[Mapping[str, Any]], apps: Mapping[str, AppSpec]) -> None:
    """Write the components in ``rows``, one for each version; ``apps`` are those of the catalog, by slug."""
    every = sorted(rows, key=lambda row: (row["key"], release(row["version"])))
    insert(database, "components", (_facts(row, apps.get(row["app"])) for row in every))
    newest = sorted({row["key"]: row for row in every}.values(), key=lambda row: (_sort_name(row), row["key"]))
    listed = (
        {"n": number, "key": row["key"], "version": row["version"], "sort_name": _sort_name(row),
         "kind": row["kind"], "app": row["app"], "tag": row.get("tag", "")}
        for number, row in enumerate(newest, 1)
    )  # fmt: skip
    insert(database, "listed", listed)
    insert(database, "other_keys", _other_keys(newest, apps), replace=True)
    texts = (_component_words(row, apps.get(row["app"])) for row in newest)
    insert(database, "listed_words", ({"rowid": number, **each} for number, each in enumerate(texts, 1)))
    tool_search.write(database, [row for row in newest if row["kind"] == "action"], apps)


def _sort_name(row: Mapping[str, Any]) -> str:
    """What a component is sorted by: its folded name, behind all others and their tags for one of a whole API."""
    name, tag = fold(row["name"]), row.get("tag", "")
    return f"{LAST}{fold(tag)} {name}" if tag else name


def _facts(row: Mapping[str, Any], app: AppSpec | None) -> dict[str, Any]:
    """A component's row, with its object as the API returns it (contract "Components")."""
    public = {
        "key": row["key"],
        "name": row["name"],
        "version": row["version"],
        "configurable_props": orjson.loads(row["configurable_props"]),
        "description": row["description"],
        "component_type": row["kind"],
        "annotations": {"title": row["name"], **_DEFAULT_ANNOTATIONS, **orjson.loads(row["annotations"])},
    }
    if row["stash"]:
        public["stash"] = row["stash"]
    app_names, declared = (app.slug, *app.aliases) if app else (), orjson.loads(row["aliases"])["props"]
    return {
        "id": stable_id("sc", row["key"], row["version"]),
        **{name: row[name] for name in _COMPONENT_COLUMNS},
        "json": packed(public),
        "prop_aliases": packed(aliases.prop_names(public["configurable_props"], declared, app_names)),
    }


def _component_words(row: Mapping[str, Any], app: AppSpec | None) -> dict[str, str]:
    """A component's row for full-text search, of folded words."""
    name, others = component_words(row, app.name if app else "")
    return {"name": " ".join(name), "others": " ".join(others)}


def _other_keys(newest: Sequence[Mapping[str, Any]], apps: Mapping[str, AppSpec]) -> Iterator[dict[str, str]]:
    own = {row["key"] for row in newest}
    for row in sorted(newest, key=lambda row: str(row["key"])):
        if app := apps.get(row["app"]):
            names = orjson.loads(row["aliases"])["names"]
            others = aliases.keys((app.slug, *app.aliases), app.slug, row["key"], names)
            yield from ({"other": other, "key": row["key"]} for other in others if other not in own)
