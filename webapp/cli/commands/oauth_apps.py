"""``patchbay oauth-app``: manages the OAuth clients that the operator registered at providers, such as GitHub."""

import re
import sys

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.domain.accounts import events_secrets, oauth_apps, redirect_uris
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.projects import projects
from webapp.service.domain.triggers import subscriptions


@click.group("oauth-app")
def oauth_app() -> None:
    """OAuth clients registered at providers."""


@oauth_app.command("add")
@click.option("--app", "slug", required=True, help="The app's slug, such as github.")
@click.option("--client-id", required=True, help="The client id that the provider gave you.")
@click.option("--client-secret", help="Its secret; read from standard input or asked for when it is left out.")
@click.option("--project", "project_id", help="The one project that uses it (all of them).")
@click.option("--name", default="", help="What it is called in lists.")
@click.option("--scopes", default="", help="Scopes to ask for, separated by spaces or commas.")
@JSON
def add(
    slug: str, client_id: str, client_secret: str | None, project_id: str | None, name: str, scopes: str, as_json: bool
) -> None:
    """Let people connect an app through your own OAuth client at its provider."""
    with opened() as service:
        app = service.catalog.app(slug)
        if app is None:
            raise Invalid(f"There is no app {slug!r} in the catalog; `patchbay catalog check` lists them.")
        if not app.takes_clients:
            raise Invalid(f"{app.name} does not use OAuth, so it needs no client.")
        if project_id:
            projects.get(service.store, project_id)
        client = oauth_apps.add(
            service,
            app=slug,
            client_id=client_id.strip(),
            client_secret=_secret(client_secret),
            project_id=project_id,
            name=name,
            scopes=[scope for scope in re.split(r"[,\s]+", scopes) if scope],
        )
        result = {**_row(client), "redirect_uri": redirect_uris.of(service, client.callback)}
    show(result, as_json, "The client was added. At the provider, allow the redirect_uri below.")


@oauth_app.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Every such client, oldest first; never a secret."""
    with opened() as service:
        rows = [_row(client) for client in oauth_apps.list_all(service.store)]
    table(rows, as_json, "oauth_apps", "There is no such client yet; `patchbay oauth-app add` adds one.")


@oauth_app.command("events")
@click.argument("oauth_app_id")
@click.option("--sent", is_flag=True, help="Take the one that the provider sent, and show it once.")
@JSON
def events(oauth_app_id: str, sent: bool, as_json: bool) -> None:
    """Take the secret that signs a client's events, or the topic in its place, from standard input; and say to which
    address they come."""
    with opened() as service:
        client = oauth_apps.get(service.store, oauth_app_id)
        app = service.app(client.app)
        webhook = app.spec.client_webhook
        if webhook is None:
            raise Invalid(f"{app.name} has no events that come to its OAuth client.")
        if sent:
            secret, name = events_secrets.take_handshake(service, client), webhook.secret_name
            sentence = f"At {app.name}, paste this as the {name}. It is shown only now. "
            refused = "If it is refused there, somebody else sent it: let it be sent again, and run this again."
            show({"events_secret": secret}, as_json, sentence + refused)
            return
        if secret_entered := _secret(None, webhook.secret_name):
            events_secrets.check(app, secret_entered)
            client = oauth_apps.update(service, client, events_secret=secret_entered)
            subscriptions.begin(service, client.id)
        result = events_secrets.facts_of(service, client) or {}
    show(result, as_json, "At the provider, enter the uri below as the address for its events.")


def _secret(secret: str | None, name: str = "Client secret") -> str | None:
    """The secret from the option, standard input or a prompt; None if it is empty, for a public client."""
    if secret is None:
        secret = click.prompt(name, default="", hide_input=True, show_default=False, err=True) \
            if sys.stdin.isatty() else sys.stdin.readline()  # fmt: skip
    return secret.strip() or None


def _row(client: OAuthApp) -> dict[str, object]:
    return {
        "id": client.id,
        "app": client.app,
        "client_id": client.client_id,
        "name": client.name,
        "project_id": client.project_id,
        "scopes": list(client.scopes),
        "created_at": iso(client.created_at),
    }
