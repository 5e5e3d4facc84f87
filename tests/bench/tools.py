"""How well and how fast agents find a tool among a hundred thousand: ``python -m tests.bench.tools``.

``sentences.toml`` has what people ask for. The built-in actions stand among operations of many APIs, which are made up,
or which the documents of a folder describe (``--documents``: OpenAPI documents as JSON, at any depth).
"""

import itertools
import json
import random
import re
import sqlite3
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from sqlite_utils import Database

from webapp.service.catalog import tool_search
from webapp.service.catalog.build import build
from webapp.service.catalog.sources import Places
from webapp.service.catalog.tool_search import ToolSearch

OPERATIONS = 100_000
TARGET_MS, TARGET_FIRST, TARGET_FIVE = 20.0, 80.0, 95.0
_METHODS = ("get", "put", "post", "patch", "delete")
_VERBS = ("List", "Get", "Create", "Update", "Delete", "Search", "Replace", "Export", "Archive", "Count")
_THINGS = (
    "account", "alert", "asset", "attachment", "balance", "batch", "board", "booking", "branch", "budget", "calendar",
    "campaign", "card", "channel", "comment", "company", "contact", "contract", "customer", "dashboard", "deal",
    "device", "document", "email", "employee", "event", "file", "folder", "form", "group", "invoice", "issue", "item",
    "job", "label", "lead", "list", "meeting", "member", "message", "milestone", "note", "order", "organization",
    "page", "payment", "person", "playlist", "policy", "post", "product", "project", "queue", "record", "refund",
    "report", "repository", "response", "role", "room", "row", "rule", "schedule", "segment", "sheet", "subscription",
    "table", "tag", "task", "team", "template", "ticket", "track", "transaction", "user", "video", "webhook",
)  # fmt: skip
_PARTS = ("", " settings", " history", " permissions", " links", " statuses", " templates", " metrics", " of a team")


@dataclass(frozen=True, slots=True)
class Tools:
    """What was found: the share of sentences in percent whose first tool, and one of whose first five, is right, in the
    half on which the search was tuned and in the other; and CPU milliseconds of a search."""

    operations: int
    first: float
    five: float
    held_first: float
    held_five: float
    median_ms: float
    p95_ms: float

    def text(self) -> str:
        """The lines to print."""
        return (
            f"search_tools among {self.operations:,} operations: {self.median_ms:.1f} ms of CPU, {self.p95_ms:.1f} ms "
            f"(p95; ≤ {TARGET_MS:g}); right at first {self.first:.0f} % of sentences it was tuned on and "
            f"{self.held_first:.0f} % of others (≥ {TARGET_FIRST:g}), among five {self.five:.0f} % and "
            f"{self.held_five:.0f} % (≥ {TARGET_FIVE:g})"
        )


def sentences() -> dict[str, dict[str, list[str]]]:
    """The right actions by sentence, in the two halves ``tuned`` and ``held``."""
    return tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))


def measure(folder: Path, operations: int = OPERATIONS, documents: Path | None = None) -> Tools:
    """Search among ``operations`` of imported APIs, in a catalog that is written to ``folder``."""
    with closing(_catalog(folder, _described(documents) if documents else _made_up(), operations)) as connection:
        search = ToolSearch(lambda sql, params: connection.execute(sql, params).fetchall())
        halves = sentences()
        times, right = list[float](), dict[str, tuple[float, float]]()
        for half, wanted in halves.items():
            places = [_place(search, sentence, keys, times) for sentence, keys in wanted.items()]
            right[half] = (_share(places, 1), _share(places, 5))
        ((count,),) = connection.execute("SELECT count(*) FROM tools")
    times.sort()
    return Tools(count, *right["tuned"], *right["held"], times[len(times) // 2], times[int(len(times) * 0.95)])


def _place(search: ToolSearch, sentence: str, keys: Sequence[str], times: list[float]) -> int:
    """Where the first right action is, from 0."""
    began = time.process_time()
    found = search.find(sentence)
    times.append((time.process_time() - began) * 1000)
    return next((place for place, key in enumerate(found) if key in keys), len(found))


def _share(places: Sequence[int], first: int) -> float:
    return round(100 * sum(place < first for place in places) / len(places), 1)


def _catalog(folder: Path, operations: Iterator[dict[str, Any]], count: int) -> sqlite3.Connection:
    """The words of the built-in actions and of ``count`` operations."""
    target = folder / "built-in.db"
    build(target, Places())
    with closing(sqlite3.connect(target)) as built:
        built.row_factory = sqlite3.Row
        ours = built.execute("SELECT slug, name, featured_weight FROM apps").fetchall()
        rows = [
            {**row, "configurable_props": json.dumps(json.loads(row["json"])["configurable_props"])}
            for row in built.execute("SELECT * FROM listed JOIN components USING (key, version, kind, app)")
            if row["kind"] == "action"
        ]
    imported = list(itertools.islice(operations, count))
    apps = {row["app"]: _App(row["app"], row["app_name"]) for row in imported}
    apps |= {row["slug"]: _App(*row) for row in ours}
    with closing(Database(folder / "tools.db")) as database:
        tool_search.create_tables(database)
        tool_search.write(database, [*rows, *imported], apps)
    connection = sqlite3.connect(folder / "tools.db")
    connection.row_factory = sqlite3.Row
    return connection


@dataclass(frozen=True, slots=True)
class _App:
    """What the search reads of an app."""

    slug: str
    name: str
    featured_weight: int = 0


def _operation(app: str, app_name: str, number: int, name: str, about: str, arguments: Sequence[str]) -> dict[str, Any]:
    props = [{"name": argument, "label": argument, "type": "string"} for argument in arguments]
    key = f"{app}-api-{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}-{number}"
    facts = {
        "key": key,
        "app": app,
        "app_name": app_name,
        "name": name,
        "description": about,
        "root": "apps",
        "tag": "api",
    }
    return {**facts, "configurable_props": json.dumps(props)}


def _made_up() -> Iterator[dict[str, Any]]:
    """Operations of APIs that each have some things of their own, the same ones each time."""
    chosen = random.Random(1)  # names, not secrets
    for api in itertools.count(1):
        name, things = f"Made-up API {api}", chosen.sample(_THINGS, 12)
        for number, (thing, part, verb) in enumerate(itertools.product(things, _PARTS, _VERBS)):
            title = f"{verb} {thing}{part}"
            arguments = [f"{thing}_id", *chosen.sample(things, 3), "page", "limit"]
            yield _operation(f"made_up_{api}", name, number, title, f"{title} of {chosen.choice(things)}.", arguments)


def _described(folder: Path) -> Iterator[dict[str, Any]]:
    """The operations of the documents below ``folder``; a document that cannot be read is left out."""
    for file in sorted(folder.rglob("*.json")):
        try:
            document = json.loads(file.read_bytes())
            app = re.sub("[^a-z0-9]+", "_", str(file.relative_to(folder).with_suffix("")).lower())
            yield from _operations(document, app)
        except (ValueError, AttributeError, TypeError):
            continue


def _operations(document: Mapping[str, Any], app: str) -> Iterator[dict[str, Any]]:
    title, number = str(document.get("info", {}).get("title") or app), itertools.count()
    for path, item in document.get("paths", {}).items():
        for method in _METHODS:
            if operation := item.get(method):
                name = operation.get("summary") or operation.get("operationId") or f"{method} {path}"
                about = str(operation.get("description") or name)
                arguments = [str(each.get("name", "")) for each in operation.get("parameters", ())]
                yield _operation(app, title, next(number), str(name)[:80], about, arguments)


@click.command()
@click.option(
    "--operations", default=OPERATIONS, show_default=True, help="Imported operations beside the built-in ones."
)
@click.option("--documents", type=click.Path(exists=True, path_type=Path), help="A folder of OpenAPI documents.")
def tools(operations: int, documents: Path | None) -> None:
    """Measure the search for tools."""
    with tempfile.TemporaryDirectory(prefix="patchbay-tools-") as folder:
        click.echo(measure(Path(folder), operations, documents).text())


if __name__ == "__main__":
    tools()
