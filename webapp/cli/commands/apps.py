"""``patchbay app``: creates and imports an operator's own apps."""

import re
import sys
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import click

from webapp.body_limits import API_DOCUMENT
from webapp.cli.options import JSON, opened, settings_from_env, show, table
from webapp.errors import Conflict, Invalid
from webapp.kit import assets
from webapp.kit.clock import iso
from webapp.service.catalog.component_keys import key_of
from webapp.service.catalog.importing.records import Options
from webapp.service.catalog.sources import Places, read
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import api_extensions, app_imports, mcp_servers
from webapp.service.domain.instance.app_imports import Source
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

_SLUG = re.compile(r"[a-z][a-z0-9_]{0,49}")

if TYPE_CHECKING:
    from webapp.service.catalog.importing.extensions import Change
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
    """Make an app of the OpenAPI document WHAT, a file, a URL or directory:NAME; run it again to update the app."""
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
    if written.plan.excess:
        from webapp.service.catalog.importing.plans import too_many

        table(facts["groups"], False, "groups", "")
        click.echo(f"{too_many(written.plan.excess)} --only names them.", err=True)
        return
    show({key: facts[key] for key in _SHOWN}, False, _sentence(written, preview))
    _tell(written.plan, facts)


@app.command()
@click.argument("url")
@click.option("--slug", default="", help="What the app is called in addresses and keys (from its host).")
@click.option("--auth", default="", help="How accounts sign in: bearer, header:NAME, query:NAME, oauth or none.")
@click.option("--key", is_flag=True, help="List the tools with a key, read from standard input or asked for.")
@click.option("--account", "account_id", default="", help="List them with this account of the app instead.")
@click.option("--project", "project_id", default="", help="The project of the account.")
@click.option("--environment", default="production", show_default=True, help="Its environment.")
@click.option("--only", multiple=True, help="A tool by its name; several by commas.")
@click.option("--name", default="", help="What people read (what the server says).")
@click.option("--category", default="", help="A category of the catalog (developer_tools).")
@click.option("--preview", is_flag=True, help="Show what would come of it, and change nothing.")
@JSON
def mcp(
    url: str,
    slug: str,
    auth: str,
    key: bool,
    account_id: str,
    project_id: str,
    environment: str,
    only: tuple[str, ...],
    name: str,
    category: str,
    preview: bool,
    as_json: bool,
) -> None:
    """Make an app of the MCP server at URL, whose tools become its actions; run it again to update the app."""
    names = tuple(part.strip() for text in only for part in text.split(",") if part.strip())
    options = Options(names, auth or ("bearer" if key else ""), "", "", "", category, name)
    with opened() as service:
        scene = None
        if project_id:
            scene = Scene(projects.get(service.store, project_id).id, projects.environment(environment))
        asker = mcp_servers.Asker(options.auth, _key() if key else "", account_id, scene)
        chosen = slug or mcp_servers.proposed_slug(url)
        runs = app_imports.uses(service, chosen).runs
        written = (mcp_servers.preview if preview else mcp_servers.add)(service, url, chosen, asker, options)
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
                "actions": imported.actions,
                "accounts": app_imports.accounts(service, imported.slug),
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


@app.command()
@click.argument("slug")
@click.option("--only", multiple=True, help="A tag, an operation's id, or its method and path; several by commas.")
@click.option("--host", "hosts", multiple=True, help="A host that the app does not have, and that you confirm.")
@click.option("--list", "listing", is_flag=True, help="List the operations, and change nothing.")
@click.option("--preview", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--update", is_flag=True, help="Use the newest release of the description.")
@click.option("--remove", is_flag=True, help="Remove the API's actions; accounts stay.")
@click.option("--from", "archive", type=click.Path(path_type=Path), help="The package's archive, without a network.")
@JSON
def extend(
    slug: str,
    only: tuple[str, ...],
    hosts: tuple[str, ...],
    listing: bool,
    preview: bool,
    update: bool,
    remove: bool,
    archive: Path | None,
    as_json: bool,
) -> None:
    """Add the whole API of the app SLUG (such as github) to its actions, as its provider describes it."""
    names = tuple(part.strip() for text in only for part in text.split(",") if part.strip())
    with opened() as service:
        if remove:
            count = api_extensions.remove(service, slug)
            show({"slug": slug, "actions": count}, as_json, "The API's actions were removed. Accounts stay.")
            return
        wanted = names or (() if listing else None)  # a list needs none to be chosen, however many there are
        changes = _changes(service, slug, wanted, hosts, preview=preview or listing, update=update, archive=archive)
    if listing:
        table(_operations(changes), as_json, "operations", "The API has no operation.")
        return
    facts = _extension_facts(changes)
    would = "This would be so" if preview else "A service that runs has it within a second"
    show(facts, as_json, f"{would}: the API of {slug} with {facts['actions']} actions.")
    if not as_json:
        _tell_of_extension(changes)


def _changes(
    service: Service,
    slug: str,
    wanted: tuple[str, ...] | None,
    hosts: tuple[str, ...],
    *,
    preview: bool,
    update: bool,
    archive: Path | None,
) -> "list[Change]":
    from webapp.service.catalog.importing.extensions import Choice

    if update:
        brought = api_extensions.bring(service, slug, archive=archive)
        return api_extensions.update(service, slug, brought, preview=preview)
    return api_extensions.choose(service, slug, Choice(wanted, hosts), preview=preview, archive=archive)


def _operations(changes: "list[Change]") -> list[dict[str, Any]]:
    return [
        {
            "operation": each.id,
            "name": each.title,
            "tag": each.tag,
            "action": key_of(change.extension.slug, each.action) if each.action else "",
            "deprecated": "yes" if each.deprecated else "",
            "reason": each.reason,
        }
        for change in changes
        for each in change.extension.operations
    ]


def _extension_facts(changes: "list[Change]") -> dict[str, Any]:
    return {
        "slug": changes[0].extension.slug,
        "actions": sum(change.extension.count for change in changes),
        "operations": sum(len(change.extension.operations) for change in changes),
        "added": sum(len(change.added) for change in changes),
        "changed": sum(len(change.changed) for change in changes),
        "removed": [name for change in changes for name in change.removed],
        "from": list(
            dict.fromkeys(f"{change.extension.origin.package}@{change.extension.origin.version}" for change in changes)
        ),
        "integrity": list(dict.fromkeys(change.extension.origin.integrity for change in changes)),
    }


def _tell_of_extension(changes: "list[Change]") -> None:
    """Print what an owner has to know to standard error."""
    for change in changes:
        for host, count in change.extension.waiting.items():
            click.echo(
                f"{count} operations are at {host}, which the app does not have; --host {host} confirms it.", err=True
            )
        for note in change.notes:
            click.echo(note, err=True)
        for each in change.extension.operations:
            if each.reason and not any(host in each.reason for host in change.extension.waiting):
                click.echo(f"{each.id} is no action: {each.reason}.", err=True)


def _key() -> str:
    """The key for listing tools, from a prompt or standard input, so that it stands in no list of processes."""
    entered = click.prompt("Key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    if not entered.strip():
        raise Invalid("There was no key on standard input.")
    return str(entered.strip())


_SHOWN = ("slug", "name", "actions", "added", "changed", "removed", "auth", "server", "test")


def _source(service: Service, what: str) -> Source:
    if what.startswith(("https://", "http://")):
        return app_imports.fetched(service, what)
    if what.startswith(app_imports.IN_DIRECTORY):
        return app_imports.of_directory(service, what.removeprefix(app_imports.IN_DIRECTORY))
    path = Path(what)
    if not path.is_file():
        raise Invalid(f"There is no file {what}; name a file, an address that begins with https://, or directory:NAME.")
    with path.open("rb") as file:
        return Source(file.read(API_DOCUMENT + 1), path.name)


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
        "groups": [{"name": name, "operations": count} for name, count in plan.groups.items()],
        "excess": plan.excess,
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
