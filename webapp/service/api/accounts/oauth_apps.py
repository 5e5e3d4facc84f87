"""A project's own OAuth clients at providers (contract "OAuth apps"); both environments share them.

An answer is the app with the client's own fields over it. The secret goes in and never comes out.
"""

from dataclasses import replace
from typing import Annotated, Any

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.api.accounts import app_models
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import AppName, Body, Page, Paged, SearchWords
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.accounts import apps, provider_clients
from webapp.service.domain.accounts.provider_clients import Filter, ProviderClient
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service

Short = Annotated[str, Field(min_length=1, max_length=200)]
Secret = Annotated[str, Field(min_length=1, max_length=4_000)]
Scopes = Annotated[list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5B\x5D-\x7E]{1,300}$")]], Field(max_length=200)]

operations = Operations(
    Group("OAuth clients", "Your own OAuth clients at apps, so that people see your name when they allow access."),
    PathParameter("oauth_app_id", "The OAuth client's id (`oa_…`).", "$OAUTH_APP_ID"),
    read=(scopes.PROJECTS_READ,),
    write=(scopes.PROJECTS_WRITE,),
    connect=False,
)
ALL, ONE = "P/oauth_apps", "P/oauth_apps/<oauth_app_id>"


class OAuthAppList(Paged):
    """Which clients; ``app`` is a slug or an id."""

    app: AppName = None
    q: SearchWords = None


class OAuthAppChange(Body):
    """What of a client is to change; what is left out stays. A secret given takes the place of the one before."""

    name: Short | None = Field(None, description="What it is called.")
    description: Annotated[str, Field(max_length=2_000)] | None = Field(None, description="What it is for.")
    client_id: Short | None = Field(None, description="The client's id, as the provider gave it.")
    client_secret: Secret | None = Field(None, description="A new secret, which takes the place of the one before.")
    scopes: Scopes | None = Field(None, description="Scopes to ask for instead of the app's own.")
    additional_scopes: Scopes | None = Field(None, description="Scopes to ask for besides.")


class NewOAuthApp(OAuthAppChange):
    """A client as the provider registered it; ``app`` is a slug or an id."""

    app: str = Field(description="The app's slug or id.")
    client_id: Short = Field(description="The client's id, as the provider gave it.")
    client_secret: Secret = Field(description="The client's secret. It is never shown again.")


@operations.get(ALL, answer=Page[app_models.OAuthApp], query=OAuthAppList, example=Example(query={"app": "github"}))
def list_oauth_apps(call: Call) -> Response:
    """The project's own clients, oldest first."""
    query = call.query(OAuthAppList)
    client_filter = Filter(apps.slug_of(call.service, query.app) if query.app else None, query.q)
    clients = provider_clients.page(call.store, call.scene.project_id, client_filter, query.window)
    return answer_page(clients, lambda client: _to_json(call.service, client))


@operations.post(
    ALL,
    answer=app_models.OAuthApp,
    body=NewOAuthApp,
    example=Example(body={"app": "github", "client_id": "Iv1.0123456789abcdef", "client_secret": "secret"}),
)
def create_oauth_app(call: Call) -> Response:
    """Register a client. Accounts that connect from now on use the newest one of their app."""
    body = call.body(NewOAuthApp)
    app = call.service.catalog.app(body.app)
    if app is None or app.auth_type != "oauth":
        message = "There is no such app." if app is None else f"{app.name} is not connected by OAuth."
        raise Invalid.of("app", message)
    client = provider_clients.add(
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
    return _answer(call, client)


@operations.get(ONE, answer=app_models.OAuthApp)
def get_oauth_app(call: Call) -> Response:
    """One client."""
    return _answer(call, _load(call))


@operations.put(
    ONE,
    answer=app_models.OAuthApp,
    body=OAuthAppChange,
    example=Example(body={"name": "Our GitHub client"}),
)
def update_oauth_app(call: Call) -> Response:
    """Change a client; another client id is refused while accounts use this one."""
    client, body = _load(call), call.body(OAuthAppChange)
    changed = replace(
        client,
        name=client.name if body.name is None else body.name,
        description=client.description if body.description is None else body.description,
        client_id=body.client_id or client.client_id,
        scopes=client.scopes if body.scopes is None else tuple(body.scopes),
        additional_scopes=client.additional_scopes if body.additional_scopes is None else tuple(body.additional_scopes),
    )
    return _answer(call, provider_clients.update(call.service, changed, client_secret=body.client_secret))


@operations.delete(ONE)
def delete_oauth_app(call: Call) -> Response:
    """Remove a client; 409 while accounts were connected with it, since their tokens could not be refreshed."""
    provider_clients.remove(call.service, _load(call))
    return no_content()


def _load(call: Call) -> ProviderClient:
    return provider_clients.own(call.store, call.scene.project_id, call.path["oauth_app_id"])


def _answer(call: Call, client: ProviderClient) -> Response:
    return answer(_to_json(call.service, client))


def _to_json(service: Service, client: ProviderClient) -> dict[str, Any]:
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
        "redirect_uri": provider_clients.redirect_uri(service, client),
        "owner_id": client.project_id,
        "created_at": iso(client.created_at),
        "updated_at": iso(client.updated_at),
    }
