"""``patchbay client``: the OAuth clients with which servers call the API."""

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.kit.clock import iso
from webapp.service.domain.access import clients
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import projects


@click.group()
def client() -> None:
    """OAuth clients of this installation."""


@client.command("create")
@click.option("--project", "project_id", help="The one project that it sees (all of them).")
@click.option("--scope", default=scopes.ALL, show_default=True, help="What it may do, separated by spaces.")
@click.option("--name", default="Server", show_default=True, help="What it is called in lists.")
@JSON
def create(project_id: str | None, scope: str, name: str, as_json: bool) -> None:
    """Make a client. Its secret is shown this once."""
    with opened() as service:
        if project_id:
            projects.get(service.store, project_id)
        new_client, secret = clients.create(service, name=name, scope=scope, project_id=project_id)
    show(_with_secret(new_client, secret), as_json, "The client was made. Keep its secret: it is not shown again.")


@client.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Every client, oldest first; never a secret."""
    with opened() as service:
        rows = [
            {
                "client_id": entry.id,
                "name": entry.name,
                "project_id": entry.project_id,
                "scope": entry.scope,
                "rotated_at": iso(entry.rotated_at),
            }
            for entry in clients.every(service.store)
        ]
    table(rows, as_json, "clients", "There is no client yet; `patchbay client create` makes one.")


@client.command("rotate")
@click.argument("client_id")
@JSON
def rotate(client_id: str, as_json: bool) -> None:
    """Give CLIENT_ID a new secret; the old one and every token made with it end at once."""
    with opened() as service:
        rotated, secret = clients.rotate(service, client_id)
    show(_with_secret(rotated, secret), as_json, "The client has a new secret; the old one has ended.")


@client.command("delete")
@click.argument("client_id")
@click.confirmation_option("--yes", prompt="Delete this client? Its tokens end at once.", help="Do not ask.")
@JSON
def delete(client_id: str, as_json: bool) -> None:
    """Delete CLIENT_ID; every token made with it ends at once."""
    with opened() as service:
        clients.delete(service, client_id)
    show({"client_id": client_id}, as_json, "The client was deleted; its tokens have ended.")


def _with_secret(registered: clients.Client, secret: str) -> dict[str, str | None]:
    return {
        "client_id": registered.id,
        "client_secret": secret,
        "name": registered.name,
        "project_id": registered.project_id,
        "scope": registered.scope,
    }
