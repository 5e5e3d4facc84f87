"""A project's own OAuth clients at providers (contract "OAuth apps"); both environments share them.

An answer is the app with the client's own fields over it. The secret goes in and never comes out.
"""

from dataclasses import asdict, replace
from typing import Any

from flask import Response

from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.api.accounts import app_models
from webapp.service.api.accounts.oauth_app_models import NewOAuthApp, OAuthAppChange, OAuthAppList, OAuthAppOptions
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import Page
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import apps, oauth_app_checks, oauth_apps
from webapp.service.domain.accounts.oauth_app_checks import ClientVerdict
from webapp.service.domain.accounts.oauth_apps import OAuthApp, OAuthAppFilter
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service

OAUTH_APPS = Group(
    "OAuth clients", "Your own OAuth clients at apps, so that people see your name when they allow access."
)
OAUTH_APP_ID = PathParameter("oauth_app_id", "The OAuth client's id (`oa_…`).", "$OAUTH_APP_ID")
operations = Operations(
    OAUTH_APPS,
    OAUTH_APP_ID,
    read=(scopes.PROJECTS_READ,),
    write=(scopes.PROJECTS_WRITE,),
    connect=False,
)
ALL, ONE = "P/oauth_apps", "P/oauth_apps/<oauth_app_id>"


@operations.get(
    ALL, answer=Page[app_models.ExtendedOAuthApp], query=OAuthAppList, example=Example(query={"app": "github"})
)
def list_oauth_apps(call: Call) -> Response:
    """The project's own clients, oldest first."""
    query = call.query(OAuthAppList)
    client_filter = OAuthAppFilter(apps.slug_of(call.service, query.app) if query.app else None, query.q)
    clients = oauth_apps.page(call.store, call.scene.project_id, client_filter, query.window)
    return answer_page(clients, lambda client: to_json(call.service, client, extensions=query.extensions))


@operations.post(
    ALL,
    answer=app_models.CheckedOAuthApp,
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
    _check_events(app, body)
    uri = oauth_apps.new_redirect_uri(call.service, app.slug)
    verdict = _checked(call.service, app, body.client_id, body.client_secret, uri) if body.check else None
    client = oauth_apps.add(
        call.service,
        app=app.slug,
        client_id=body.client_id,
        client_secret=body.client_secret,
        project_id=call.scene.project_id,
        name=body.name or "",
        description=body.description or "",
        scopes=body.scopes or (),
        additional_scopes=body.additional_scopes or (),
        events_secret=body.events_secret,
    )
    return _answer(call, client, verdict)


@operations.get(ONE, answer=app_models.ExtendedOAuthApp, query=OAuthAppOptions)
def get_oauth_app(call: Call) -> Response:
    """One client."""
    return answer(to_json(call.service, load(call), extensions=call.query(OAuthAppOptions).extensions))


@operations.put(
    ONE,
    answer=app_models.CheckedOAuthApp,
    body=OAuthAppChange,
    example=Example(body={"name": "Our GitHub client"}),
)
def update_oauth_app(call: Call) -> Response:
    """Change a client; another client id is refused while accounts use this one."""
    client, body = load(call), call.body(OAuthAppChange)
    _check_events(call.service.app(client.app), body)
    changed, secret = _changed(client, body), body.client_secret
    verdict = None
    if body.check:
        known = secret or oauth_apps.secret(call.service, client)
        uri = oauth_apps.redirect_uri(call.service, client)
        verdict = _checked(call.service, call.service.app(client.app), changed.client_id, known, uri)
    return _answer(
        call,
        oauth_apps.update(call.service, changed, client_secret=secret, events_secret=body.events_secret),
        verdict,
    )


@operations.delete(ONE)
def delete_oauth_app(call: Call) -> Response:
    """Remove a client; 409 while accounts were connected with it, since their tokens could not be refreshed."""
    oauth_apps.remove(call.service, load(call))
    return no_content()


def load(call: Call) -> OAuthApp:
    """The client that the address names, if it is the project's own. Raises :class:`webapp.errors.NotFound`."""
    return oauth_apps.own(call.store, call.scene.project_id, call.path["oauth_app_id"])


def to_json(service: Service, client: OAuthApp, *, extensions: bool = False) -> dict[str, Any]:
    """A client as the API shows it, with what is Patchbay's own where that was asked for."""
    app = apps.facts(service, client.app)
    document = {
        **app,
        "id": client.id,
        "name": app["name"] if client.name in ("", client.app) else client.name,
        "description": client.description or app["description"],
        "oauth_app_id": client.id,
        "client_id": client.client_id,
        "scopes": client.scopes,
        "additional_scopes": client.additional_scopes,
        "redirect_uri": oauth_apps.redirect_uri(service, client),
        "owner_id": client.project_id,
        "created_at": iso(client.created_at),
        "updated_at": iso(client.updated_at),
    }
    if extensions:
        use = asdict(oauth_apps.use_of(service.store, client))
        document["patchbay"] = {"app_name": app["name"], **use, "events": oauth_apps.events_of(service, client)}
    return document


def _check_events(app: App, body: OAuthAppChange) -> None:
    if body.events_secret and app.spec.told is None:
        raise Invalid.of("events_secret", f"{app.name} has no events that come to its OAuth client.")


def _changed(client: OAuthApp, body: OAuthAppChange) -> OAuthApp:
    """``client`` with all of ``body`` but the secret."""
    return replace(
        client,
        name=client.name if body.name is None else body.name,
        description=client.description if body.description is None else body.description,
        client_id=body.client_id or client.client_id,
        scopes=client.scopes if body.scopes is None else tuple(body.scopes),
        additional_scopes=client.additional_scopes if body.additional_scopes is None else tuple(body.additional_scopes),
    )


def _answer(call: Call, client: OAuthApp, verdict: ClientVerdict | None) -> Response:
    document = to_json(call.service, client)
    return answer({**document, "check": asdict(verdict)} if verdict else document)


def _checked(service: Service, app: App, client_id: str, client_secret: str | None, redirect_uri: str) -> ClientVerdict:
    """What the provider of ``app`` says of a client. Raises :class:`Invalid` if nobody could connect with it."""
    verdict = oauth_app_checks.check(service, app, client_id, client_secret, redirect_uri)
    if verdict.refused:
        raise Invalid.of("redirect_uri" if verdict.verdict == "redirect_uri" else "client_id", verdict.sentence)
    return verdict
