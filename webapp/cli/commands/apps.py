"""``patchbay app``: creates and imports an operator's own apps."""

import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import click

from webapp.cli.options import JSON, opened, settings_from_env, show, table
from webapp.errors import Conflict, Invalid
from webapp.kit import assets
from webapp.kit.clock import iso
from webapp.service.catalog.importing.records import MOST_BYTES, Options
from webapp.service.catalog.sources import Places, read
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import app_imports
from webapp.service.domain.instance.app_imports import Source

_SLUG = re.compile(r"[a-z][a-z0-9_]{0,49}")

if TYPE_CHECKING:
    from webapp.service.catalog.importing.files import Written
    from webapp.service.catalog.importing.plans import Plan


@click.group()
def app() -> None:
    """Apps of your own: any API by its OpenAPI document, or written by hand as the manual's page on apps says."""


@app.command()
@click.argument("slug")
@click.option("--oauth", is_flag=True, help="People sign in at the provider instead of entering a key.")
@JSON
def new(slug: str, oauth: bool, as_json: bool) -> None:
    """Write a first app.toml of the app SLUG (such as acme_shop), ready to be changed."""
    if not _SLUG.fullmatch(slug):
        raise Invalid(f"{slug!r} cannot be the slug of an app; use lower case and underscores, such as acme_shop.")
    data = settings_from_env().data
    if any(slug in (source.spec.slug, *source.spec.aliases) for source in read(Places.of(data)).apps):
        raise Conflict(f"There is an app {slug} already; choose another slug.")
    path = data / "apps" / slug / "app.toml"
    if path.parent.exists():
        raise Conflict(f"There is a folder {path.parent} already; choose another slug, or remove it.")
    title, first = slug.replace("_", " ").title(), f"app-{'oauth' if oauth else 'keys'}.toml.txt"
    source = Template((assets.templates_dir() / "components" / first).read_text("utf-8"))
    path.parent.mkdir(parents=True)
    host = f"{slug.replace('_', '-')}.example"
    path.write_text(source.substitute(slug=slug, title=title, letter=title[0], host=host))
    show({"slug": slug, "path": str(path)}, as_json, f"The app was written. `patchbay catalog check {slug}` reads it.")


@app.command("import")
@click.argument("what")
@click.option("--slug", required=True, help="What the app is called in addresses and keys, such as acme_shop.")
@click.option("--only", multiple=True, help="A tag, an operation's id, or its method and path; several by commas.")
@click.option("--auth", default="", help="How accounts sign in: a security scheme, bearer, basic, header:NAME or none.")
@click.option("--server", default="", help="The API's address, where the document names another or none.")
@click.option("--test", default="", help="The operation or path that tests an account, such as /me.")
@click.option("--name", default="", help="What people read (the document's title).")
@click.option("--category", default="", help="A category of the catalog (developer_tools).")
@click.option("--docs", "docs_url", default="", help="Where people read about the API.")
@click.option("--preview", is_flag=True, help="Show what would come of it, and change nothing.")
@JSON
def import_(
    what: str,
    slug: str,
    only: tuple[str, ...],
    auth: str,
    server: str,
    test: str,
    name: str,
    category: str,
    docs_url: str,
    preview: bool,
    as_json: bool,
) -> None:
    """Make an app of the OpenAPI document WHAT, a file or a URL; run it again to update the app."""
    names = tuple(part.strip() for text in only for part in text.split(",") if part.strip())
    options = Options(names, auth, server, test, docs_url, category, name)
    with opened() as service:
        source = _source(service, what)
        bring = app_imports.preview if preview else app_imports.bring
        runs = app_imports.uses(service, slug).runs
        written = bring(service, source, slug, options)
    facts = _facts(written, {name: runs[name] for name in written.removed if name in runs})
    if as_json:
        show(facts, True)
        return
    show({key: facts[key] for key in _SHOWN}, False, _sentence(written, preview))
    _tell(written.plan, facts)


@app.command("list")
@JSON
def list_(as_json: bool) -> None:
    """List the imported apps and their sources."""
    with opened() as service:
        rows = [
            {
                "slug": imported.slug,
                "name": imported.title,
                "version": imported.version,
                "actions": len(imported.operations),
                "accounts": app_imports.uses(service, imported.slug).accounts,
                "imported_at": iso(imported.imported_at),
                "source": imported.source,
            }
            for imported in app_imports.listed(service)
        ]
    table(rows, as_json, "apps", "No app was imported yet; `patchbay app import` imports one.")


@app.command()
@click.argument("slug")
@click.option("--with-accounts", is_flag=True, help="Even while accounts are connected, which then cannot be used.")
@JSON
def remove(slug: str, with_accounts: bool, as_json: bool) -> None:
    """Remove the imported app SLUG with its actions."""
    with opened() as service:
        removed = app_imports.remove(service, slug, with_accounts=with_accounts)
    show({"slug": slug, "actions": len(removed.operations)}, as_json, "The app was removed.")


_SHOWN = ("slug", "name", "actions", "added", "changed", "removed", "auth", "server", "test")


def _source(service: Service, what: str) -> Source:
    if what.startswith(("https://", "http://")):
        return app_imports.fetched(service, what)
    path = Path(what)
    if not path.is_file():
        raise Invalid(f"There is no file {what}; name a file or an address that begins with https://.")
    with path.open("rb") as file:
        return Source(file.read(MOST_BYTES + 1), path.name)


def _facts(written: "Written", used: dict[str, int]) -> dict[str, Any]:
    plan = written.plan
    return {
        "slug": plan.slug,
        "name": plan.title,
        "version": plan.version,
        "actions": len(plan.actions),
        "added": len(written.added),
        "changed": len(written.changed),
        "removed": list(written.removed),
        "removed_and_used": used,
        "by_hand": list(written.by_hand),
        "auth": plan.options.auth,
        "server": plan.app.get("base_url"),
        "test": plan.options.test,
        "notes": [*plan.notes, *(f"{action.name}: {note}" for action in plan.actions for note in action.notes)],
        "left": [{"operation": each.operation, "reason": each.reason} for each in plan.left],
    }


def _sentence(written: "Written", preview: bool) -> str:
    count = len(written.plan.actions)
    if preview:
        return f"This would be the app {written.plan.title} with {count} actions."
    return (
        f"The app {written.plan.title} was imported with {count} actions. A service that runs has it within a second."
    )


def _tell(plan: "Plan", facts: dict[str, Any]) -> None:
    """Print the notes about an import to standard error."""
    for place in facts["by_hand"]:
        click.echo(f"{place} was changed by hand and stays as it is.", err=True)
    for name, runs in facts["removed_and_used"].items():
        click.echo(f"{name} was removed, and was run {runs} times in the last 30 days.", err=True)
    for note in facts["notes"]:
        click.echo(note, err=True)
    for each in plan.left:
        click.echo(f"{each.operation} is no action: {each.reason}.", err=True)
