"""``patchbay client``: manages the OAuth clients with which servers call the API."""

from typing import TextIO

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.kit.clock import iso, iso_or_none
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import projects

HOUR_S = 3600


@click.group()
def client() -> None:
    """OAuth clients of this installation."""


@client.command("create")
@click.option("--project", "project_id", help="The one project that it sees (all of them).")
@click.option("--scope", default=token_scopes.ALL, show_default=True, help="What it may do, separated by spaces.")
@click.option("--name", default="Server", show_default=True, help="What it is called in lists.")
@click.option("--key", type=click.File(), help="Its public key (PEM or JWK), with which it signs instead of a secret.")
@JSON
def create(project_id: str | None, scope: str, name: str, key: TextIO | None, as_json: bool) -> None:
    """Make a client. Its secret is shown this once."""
    public_key = oauth_clients.read_key(key.read()) if key else ""
    with opened() as service:
        if project_id:
            projects.get(service.store, project_id)
        new_client, secret = oauth_clients.create(
            service, name=name, scope=scope, project_id=project_id, public_key=public_key
        )
    sentence = "Keep its secret: it is not shown again." if secret else "It signs with its key; it has no secret."
    show(_with_secret(new_client, secret), as_json, f"The client was made. {sentence}")


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
            for entry in oauth_clients.every(service.store)
        ]
    table(rows, as_json, "clients", "There is no client yet; `patchbay client create` makes one.")


@client.command("rotate")
@click.argument("client_id")
@click.option(
    "--overlap",
    "hours",
    type=click.IntRange(0, oauth_clients.MAX_OVERLAP_S // HOUR_S),
    default=0,
    show_default=True,
    help="Hours for which the old secret works beside the new one.",
)
@JSON
def rotate(client_id: str, hours: int, as_json: bool) -> None:
    """Give CLIENT_ID a new secret; the old one and its tokens end at once, or after --overlap hours."""
    with opened() as service:
        rotated, secret = oauth_clients.rotate(service, client_id, hours * HOUR_S)
    ends_at = iso_or_none(rotated.old_secret_ends_at)
    sentence = f"the old one works until {ends_at}" if ends_at else "the old one has ended"
    row = _with_secret(rotated, secret) | {"old_secret_ends_at": ends_at}
    show(row, as_json, f"The client has a new secret; {sentence}.")


@client.command("end-old-secret")
@click.argument("client_id")
@JSON
def end_old_secret(client_id: str, as_json: bool) -> None:
    """End the overlap after a rotation: from now on CLIENT_ID has only its new secret."""
    with opened() as service:
        oauth_clients.end_old_secret(service, client_id)
    show({"client_id": client_id}, as_json, "The old secret and its tokens have ended.")


@client.command("delete")
@click.argument("client_id")
@click.confirmation_option("--yes", prompt="Delete this client? Its tokens end at once.", help="Do not ask.")
@JSON
def delete(client_id: str, as_json: bool) -> None:
    """Delete CLIENT_ID; every token made with it ends at once."""
    with opened() as service:
        oauth_clients.delete(service, client_id)
    show({"client_id": client_id}, as_json, "The client was deleted; its tokens have ended.")


def _with_secret(registered: oauth_clients.OAuthClient, secret: str) -> dict[str, str | None]:
    return {
        "client_id": registered.id,
        **({"client_secret": secret} if secret else {}),
        "name": registered.name,
        "project_id": registered.project_id,
        "scope": registered.scope,
    }
