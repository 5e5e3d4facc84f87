"""Writing ``catalog.db``: the sound apps with their logos, their words for full-text search, and what was wrong.

The file is made beside its place and moved there whole, so that a reader sees the old one or the new one. The same
sources give the same answers on every machine. Reading it is ``index``'s. A change of its tables changes
:data:`VERSION`, so that it is built anew.
"""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from webapp.kit.scratch import Scratch
from webapp.service.catalog import component_tables, declaring, logos, sources, variables
from webapp.service.catalog.check import Verdict, judge
from webapp.service.catalog.declaring import Declare, Declared
from webapp.service.catalog.facts import variants
from webapp.service.catalog.listing import words
from webapp.service.catalog.reading import unlisted
from webapp.service.catalog.reading.fingerprints import fingerprint
from webapp.service.catalog.sources import Places, Source
from webapp.service.catalog.spec import AppSpec, Category
from webapp.service.components.runner import Runner

VERSION = 7
SEARCHED = ["name", "slug", "description", "categories"]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did. ``problems`` are ``path: sentence``; their apps or components were left out."""

    apps: int
    problems: tuple[str, ...]
    fingerprint: str
    built: bool


def build(target: Path, places: Places, declare: Declare | None = None) -> BuildReport:
    """Write the catalog of what stands in ``places`` to ``target``.

    ``declare`` asks a runner that is there already, without which one is started for the build.
    """
    mark = _fingerprint(places)
    catalog_sources = sources.read(places)
    verdict = judge(catalog_sources)
    target.parent.mkdir(parents=True, exist_ok=True)
    files = [component for source in verdict.sound for component in source.components] + catalog_sources.components
    with Runner.start() as runner:  # which costs nothing until it is asked
        declared, problems = declaring.declared(files, declare or runner.call, _known(target))
    declared = _heard(declared, verdict)
    report = BuildReport(len(verdict.sound), (*verdict.problems, *problems), mark, built=True)
    with Scratch(".catalog-", target.parent) as folder:
        draft = folder / "catalog.db"
        with closing(Database(draft)) as database:
            _write(database, verdict, catalog_sources.categories, declared, target.absolute().parent)
            database.table("unlisted").insert_all({"name": name} for name in unlisted.read(places.pieces))
            facts = {"apps": report.apps, "problems": report.problems, "fingerprint": mark}
            database.table("build").insert({"report": json.dumps(facts)})
        draft.replace(target)
    return report


def ensure(target: Path, places: Places, declare: Declare | None = None) -> BuildReport:
    """Build unless ``target`` was built from exactly these sources. Takes what :func:`build` takes."""
    standing = _standing(target)
    if standing is not None and standing.fingerprint == _fingerprint(places):
        return standing
    return build(target, places, declare)


def _fingerprint(places: Places) -> str:
    """Changes exactly when a build from ``places`` would give something else."""
    return f"{VERSION} {logos.source()} {declaring.source()} {fingerprint(places)}"


def _known(target: Path) -> dict[str, dict[str, Any]]:
    """What components declared when the file at ``target`` was built, by their marks."""
    try:
        with closing(sqlite3.connect(f"{target.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT mark, facts FROM declarations").fetchall()
        return {mark: json.loads(facts) for mark, facts in rows}
    except (sqlite3.Error, ValueError):
        return {}


def _standing(target: Path) -> BuildReport | None:
    """What the file at ``target`` was built from; None for a file that is missing or no catalog."""
    if not target.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{target.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            ((text,),) = connection.execute("SELECT report FROM build").fetchall()
        report = json.loads(text)
        return BuildReport(report["apps"], tuple(report["problems"]), report["fingerprint"], built=False)
    except (sqlite3.Error, ValueError, KeyError, TypeError):
        return None


def _heard(declared: Sequence[Declared], verdict: Verdict) -> list[Declared]:
    """``declared`` without triggers whose events accounts of their app never hear."""
    told = {source.spec.slug for source in verdict.sound if source.spec.told is not None}

    def is_deaf(each: Declared) -> bool:
        props = each.facts["configurable_props"]
        return variants.is_deaf(each.component, props, told=each.component.app in told)

    return [each for each in declared if not is_deaf(each)]


def _write(
    database: Database, verdict: Verdict, categories: dict[str, Category], declared: Sequence[Declared], beside: Path
) -> None:
    apps = sorted(verdict.sound, key=lambda source: source.spec.slug)
    rows = [_app(row, source, categories, declared) for row, source in enumerate(apps, 1)]
    create_tables(database)
    database.table("apps").insert_all(rows)
    database.table("categories").insert_all(category.model_dump() for category in categories.values())
    specs = {source.spec.slug: source.spec for source in apps}
    component_tables.write(database, (component.row(beside) for component in declared), specs)
    database.table("declarations").insert_all(
        {"mark": mark, "facts": json.dumps(facts)}
        for mark, facts in sorted({component.mark: component.facts for component in declared}.items())
    )
    words_table = database.table("words")
    words_table.insert_all(_words(row, source.spec, categories) for row, source in enumerate(apps, 1))
    words_table.enable_fts(SEARCHED, tokenize="unicode61")


def create_tables(database: Database) -> None:
    """Make every table in an empty database."""
    texts = (
        "slug", "name", "description", "auth_type", "categories", "category_names", "custom_fields", "scope_profiles",
        "logo", "logo_hash", "variables", "aliases", "spec",
    )  # fmt: skip
    numbers = ("id", "featured_weight", "actions", "triggers", "own")
    apps = database.table("apps").create({**dict.fromkeys(texts, str), **dict.fromkeys(numbers, int)}, pk="id")
    apps.create_index(["slug"], unique=True)
    database.table("categories").create(dict.fromkeys(("slug", "name", "description"), str), pk="slug")
    component_tables.create(database)
    database.table("declarations").create({"mark": str, "facts": str}, pk="mark")
    database.table("words").create({"id": int, **dict.fromkeys(SEARCHED, str)}, pk="id")
    database.table("unlisted").create({"name": str}, pk="name")
    database.table("build").create({"report": str})


def _app(row: int, source: Source, categories: dict[str, Category], declared: Sequence[Declared]) -> dict[str, Any]:
    spec, logo = source.spec, logos.svg(source.spec.name, source.spec.logo)
    kept = spec.model_dump_json(by_alias=True, exclude_defaults=True)
    keys = {(component.kind, component.component.key) for component in declared if component.component.app == spec.slug}
    return {
        "id": row,
        "slug": spec.slug,
        "name": spec.name,
        "description": spec.description,
        "auth_type": spec.auth_type,
        "categories": json.dumps(spec.categories),
        "category_names": json.dumps([categories[slug].name for slug in spec.categories]),
        "featured_weight": spec.featured_weight,
        "custom_fields": json.dumps([field.to_json() for field in spec.fields]),
        "scope_profiles": json.dumps([{"name": each.name, "scopes": each.scopes} for each in spec.scope_profiles]),
        "logo": logo,
        "logo_hash": logos.digest(logo),
        "actions": sum(kind == "action" for kind, _ in keys),
        "triggers": sum(kind == "trigger" for kind, _ in keys),
        "variables": json.dumps(sorted(variables.names(kept))),
        "aliases": json.dumps(spec.aliases),
        "own": int(source.own),
        "spec": kept,
    }


def _words(row: int, spec: AppSpec, categories: dict[str, Category]) -> dict[str, Any]:
    """What full-text search looks in: folded words; the slug also in one piece, so that googlesheets finds it."""
    names = " ".join(categories[slug].name for slug in spec.categories)
    return {
        "id": row,
        "name": " ".join(words(spec.name)),
        "slug": f"{' '.join(spec.slug.split('_'))} {spec.slug.replace('_', '')}",
        "description": " ".join(words(spec.description)),
        "categories": " ".join(words(names)),
    }
