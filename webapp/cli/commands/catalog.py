"""``patchbay catalog``: checks and builds the catalog of apps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from webapp.cli.options import JSON, settings_from_env, show, table
from webapp.errors import NotFound
from webapp.service.catalog import checked, explanations, logos, registry_keys
from webapp.service.catalog.build import BuildReport
from webapp.service.catalog.build import build as build_catalog
from webapp.service.catalog.check import judge
from webapp.service.catalog.declarations import examined
from webapp.service.catalog.explanations import Explanations
from webapp.service.catalog.sources import Places, Source, read
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
@click.argument("slugs", nargs=-1)
@click.option("--gaps", is_flag=True, help="Also name the props whose explanation is missing.")
@JSON
def check(slugs: tuple[str, ...], gaps: bool, as_json: bool) -> None:
    """Every app with what it offers, or those of SLUGS, why it shows a letter in place of a logo, how many components
    were checked by machine, how many props are explained, and everything that is wrong with it, its actions and its
    triggers."""
    sources = read(Places.of(settings_from_env().data))
    verdict = judge(sources)
    if unknown := set(slugs) - {row.slug for row in verdict.rows} - {_folder(problem) for problem in verdict.problems}:
        raise NotFound(f"There is no app {min(unknown)}; `patchbay catalog check` lists all.")
    apps = [app for app in sources.apps if not slugs or app.spec.slug in slugs]
    components = [component for app in apps for component in app.components]
    with Runner.start() as runner:
        files = components if slugs else components + sources.components
        facts, wrong = examined(files, runner.call, apps)
    problems, explained = [*verdict.problems, *wrong], explanations.counted(facts)
    accepted = {app.spec.slug: _accepted_keys(app, problems) for app in apps if app.of is None}
    rows = [
        {**asdict(row), "registry_keys": accepted.get(row.slug, 0)}
        for row in verdict.rows
        if not slugs or row.slug in slugs
    ]
    problems = [problem for problem in problems if not slugs or _folder(problem) in slugs]
    letters = _letters(apps)
    against = checked.counted(app.spec.slug for app in apps if not app.own)
    if as_json:
        props = {**asdict(explained), "gaps": explained.gaps if gaps else ()}
        show({"apps": rows, "letters": letters, "checked": against, "props": props, "problems": problems}, True)
    else:
        table(rows, False, "apps", "There is no app.")
        for slug, reason in letters.items():
            click.echo(f"{slug} shows a letter: {reason}.")
        if any(against.values()):
            click.echo(f"{against['description']} components agree with descriptions, {against['sdk']} with SDKs.")
        keys = sum(row["registry_keys"] for row in rows)
        click.echo(f"{keys} keys of the public registry are accepted; each required prop of theirs has its place.")
        for sentence in [*_totals(rows, explained), *(explained.gaps if gaps else ())]:
            click.echo(sentence)
        for problem in problems:
            click.echo(problem, err=True)
    if problems:
        raise SystemExit(1)


def _totals(rows: Sequence[Mapping[str, Any]], explained: Explanations) -> Iterator[str]:
    """What there is in all, and how well it is explained, as sentences."""
    actions, triggers = (sum(row[kind] for row in rows) for kind in ("actions", "triggers"))
    yield f"{len(rows)} apps have {actions} actions and {triggers} triggers."
    if explained.ids:
        yield f"{explained.ids_found} of {explained.ids} ids can be chosen, or their description says where they are."
    if explained.unclear:
        yield f"{explained.described} of {explained.unclear} props that are not plain from their label are described."


def _accepted_keys(app: Source, problems: list[str]) -> int:
    """How many keys of the public registry ``app`` accepts: those about which no problem was found."""
    places = (f"{app.spec.slug}/{registry_keys.FILE}: {key}: " for key in app.keys)
    return sum(not any(problem.startswith(place) for problem in problems) for place in places)


def _letters(apps: Sequence[Source]) -> dict[str, str]:
    """By app of a provider whose logo is a letter: why."""
    reasons = logos.letters()
    without = [
        app.spec.slug for app in apps if app.spec.logo.letter and app.spec.docs_url and not app.own and not app.of
    ]
    return {slug: reasons.get(slug, "nobody has looked for its mark yet") for slug in without}


def _folder(problem: str) -> str:
    """The folder of the app that has a problem; its name is the app's slug."""
    return problem.partition("/")[0]
