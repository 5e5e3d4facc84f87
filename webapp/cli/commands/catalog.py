"""``patchbay catalog``: check and build the catalog of apps."""

from dataclasses import asdict

import click

from webapp.cli.options import JSON, settings_from_env, show, table
from webapp.service.catalog.build import BuildReport
from webapp.service.catalog.build import build as build_catalog
from webapp.service.catalog.check import judge
from webapp.service.catalog.declaring import faults
from webapp.service.catalog.sources import Places, read
from webapp.service.components.runner import Runner


@click.group()
def catalog() -> None:
    """The apps that people can connect."""


@catalog.command()
@JSON
def build(as_json: bool) -> None:
    """Check the apps and components and write DATA/catalog.db; what has problems is left out."""
    data = settings_from_env().data
    report: BuildReport = build_catalog(data / "catalog.db", Places.of(data))
    done = "The catalog was built. A service that runs takes it in within a second."
    show({"apps": report.apps, "problems": list(report.problems)}, as_json, done)
    if report.problems:
        raise SystemExit(1)


@catalog.command()
@JSON
def check(as_json: bool) -> None:
    """Every app with what it offers, and everything that is wrong with it, its actions and its triggers."""
    sources = read(Places.of(settings_from_env().data))
    verdict = judge(sources)
    with Runner.start() as runner:
        components = [component for app in sources.apps for component in app.components] + sources.components
        problems = [*verdict.problems, *faults(components, runner.call)]
    rows = [asdict(row) for row in verdict.rows]
    if as_json:
        show({"apps": rows, "problems": problems}, True)
    else:
        table(rows, False, "apps", "There is no app.")
        for problem in problems:
            click.echo(problem, err=True)
    if problems:
        raise SystemExit(1)
