"""A project's own OAuth clients at providers: made, listed, changed and removed; both environments share them.

An answer is the App with the client's own fields over it (WIRE "oauth_apps"). The secret goes in and never comes out.
"""

from dataclasses import replace
from typing import Annotated, Any

from flask import Response
from pydantic import Field

from webapp.errors import Detail, Invalid
from webapp.kit.clock import iso
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, Paged
from webapp.service.domain.accounts import apps, provider_clients
from webapp.service.domain.accounts.provider_clients import Filter, ProviderClient
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service

Short = Annotated[str, Field(min_length=1, max_length=200)]
Secret = Annotated[str, Field(min_length=1, max_length=4_000)]
Scopes = Annotated[list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5B\x5D-\x7E]{1,300}$")]], Field(max_length=200)]


class OAuthAppList(Paged):
    """Which clients; ``app`` is a slug or an id."""

    app: str | None = None
    q: str | None = None


class OAuthAppChange(Body):
    """What of a client is to change; what is left out stays. A secret given takes the place of the one before."""

    name: Short | None = None
    description: Annotated[str, Field(max_length=2_000)] | None = None
    client_id: Short | None = None
    client_secret: Secret | None = None
    scopes: Scopes | None = None
    additional_scopes: Scopes | None = None


class NewOAuthApp(OAuthAppChange):
    """A client as the provider registered it; ``app`` is a slug or an id."""

    app: str
    client_id: Short
    client_secret: Secret


def index(call: Call) -> Response:
    """The project's own clients, oldest first."""
    asked = call.query(OAuthAppList)
    wanted = Filter(apps.slug_of(call.service, asked.app) if asked.app else None, asked.q)
    found = provider_clients.page(call.store, call.scene.project_id, wanted, asked.window)
    return answers.page(found, lambda one: _shape(call.service, one))


def create(call: Call) -> Response:
    """Register a client. Accounts that connect from now on use the newest one of their app."""
    body = call.body(NewOAuthApp)
    app = call.service.catalog.app(body.app)
    if app is None or app.auth_type != "oauth":
        message = "There is no such app." if app is None else f"{app.name} is not connected by OAuth."
        raise Invalid(f"app is not valid: {message}", [Detail("app", message)])
    made = provider_clients.add(
        call.service,
        app=app.slug,
        client_id=body.client_id,
        client_secret=body.client_secret,
        project_id=call.scene.project_id,
        name=body.name or "",
        description=body.description or "",
        scopes=body.scopes or (),
        additional_scopes=body.additional_scopes or (),
    )
    return _shown(call, made)


def show(call: Call) -> Response:
    """One client."""
    return _shown(call, _load(call))


def update(call: Call) -> Response:
    """Change a client; another client id is refused while accounts live by this one."""
    found, body = _load(call), call.body(OAuthAppChange)
    changed = replace(
        found,
        name=found.name if body.name is None else body.name,
        description=found.description if body.description is None else body.description,
        client_id=body.client_id or found.client_id,
        scopes=found.scopes if body.scopes is None else tuple(body.scopes),
        additional_scopes=found.additional_scopes if body.additional_scopes is None else tuple(body.additional_scopes),
    )
    return _shown(call, provider_clients.update(call.service, changed, client_secret=body.client_secret))


def remove(call: Call) -> Response:
    """Remove a client; 409 while accounts were connected with it, since their tokens could not be refreshed."""
    provider_clients.remove(call.service, _load(call))
    return answers.empty()


def _load(call: Call) -> ProviderClient:
    return provider_clients.own(call.store, call.scene.project_id, call.path["oauth_app_id"])


def _shown(call: Call, client: ProviderClient) -> Response:
    return answers.json(_shape(call.service, client))


def _shape(service: Service, client: ProviderClient) -> dict[str, Any]:
    app = apps.facts(service, client.app)
    return {
        **app,
        "id": client.id,
        "name": app["name"] if client.name in ("", client.app) else client.name,
        "description": client.description or app["description"],
        "oauth_app_id": client.id,
        "client_id": client.client_id,
        "scopes": client.scopes,
        "additional_scopes": client.additional_scopes,
        "redirect_uri": f"{service.settings.public_url}/connect/oauth/callback",
        "owner_id": client.project_id,
        "created_at": iso(client.created_at),
        "updated_at": iso(client.updated_at),
    }


READ, WRITE = (scopes.PROJECTS_READ,), (scopes.PROJECTS_WRITE,)
ALL, ONE = "P/oauth_apps", "P/oauth_apps/<oauth_app_id>"
OPERATIONS = (
    Operation("list_oauth_apps", "GET", ALL, index, READ, connect=False, query=OAuthAppList),
    Operation("create_oauth_app", "POST", ALL, create, WRITE, connect=False, body=NewOAuthApp),
    Operation("get_oauth_app", "GET", ONE, show, READ, connect=False),
    Operation("update_oauth_app", "PUT", ONE, update, WRITE, connect=False, body=OAuthAppChange),
    Operation("delete_oauth_app", "DELETE", ONE, remove, WRITE, connect=False),
)
