"""``patchbay catalog``: check and build the catalog of apps."""

from dataclasses import asdict

import click

from webapp.cli.options import JSON, settings_from_env, show, table
from webapp.service.catalog.build import BuildReport
from webapp.service.catalog.build import build as build_catalog
from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import read


@click.group()
def catalog() -> None:
    """The apps that people can connect."""


@catalog.command()
@JSON
def build(as_json: bool) -> None:
    """Check the apps and components and write DATA/catalog.db; what has problems is left out."""
    data = settings_from_env().data
    report: BuildReport = build_catalog(data / "catalog.db", [data / "apps"], components=data / "components")
    show({"apps": report.apps, "problems": list(report.problems)}, as_json, "The catalog was built.")
    if report.problems:
        raise SystemExit(1)


@catalog.command()
@JSON
def check(as_json: bool) -> None:
    """Every app with what it offers, and everything that is wrong with it."""
    verdict = judge(read([settings_from_env().data / "apps"]))
    rows = [asdict(row) for row in verdict.rows]
    if as_json:
        show({"apps": rows, "problems": list(verdict.problems)}, True)
    else:
        table(rows, False, "apps", "There is no app.")
        for problem in verdict.problems:
            click.echo(problem, err=True)
    if verdict.problems:
        raise SystemExit(1)
