"""A project's own OAuth clients at providers (contract "OAuth apps"); both environments share them.

An answer is the app, overlaid with the client's own fields. The secret can be set and is never returned. A client can
be checked at its provider, shared with another app of the provider, and given the secret that the provider sent for its
events.
"""

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.api.apps import App
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import (
    Answer,
    AppName,
    Body,
    DateTime,
    Extensions,
    Page,
    Paged,
    Query,
    SearchWords,
)
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.catalog.app import App as CatalogApp
from webapp.service.domain.accounts import apps, events_secrets, oauth_app_checks, oauth_apps, redirect_uris
from webapp.service.domain.accounts.oauth_apps import OAuthAppFilter
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import subscriptions

OAUTH_APPS = Group(
    "OAuth clients", "Your own OAuth clients at apps, so that people see your name when they allow access."
)
OAUTH_APP_ID = PathParameter("oauth_app_id", "The OAuth client's id (`oa_…`).", "$OAUTH_APP_ID")
operations = Operations(
    OAUTH_APPS,
    OAUTH_APP_ID,
    read=(token_scopes.PROJECTS_READ,),
    write=(token_scopes.PROJECTS_WRITE,),
    connect=False,
)
ALL, ONE = "P/oauth_apps", "P/oauth_apps/<oauth_app_id>"
Short = Annotated[str, Field(min_length=1, max_length=200)]
Secret = Annotated[str, Field(min_length=1, max_length=oauth_apps.MAX_SECRET)]
Scopes = Annotated[list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5B\x5D-\x7E]{1,300}$")]], Field(max_length=200)]


class OAuthAppList(Paged):
    """Which clients; ``app`` is a slug or an id."""

    app: AppName = None
    q: SearchWords = None
    extensions: Extensions = False


class OAuthAppOptions(Query):
    """Whether to add Patchbay's own fields."""

    extensions: Extensions = False


class OAuthAppChange(Body):
    """The changes of a client; omitted fields are unchanged. A secret replaces the previous one."""

    name: Short | None = Field(None, description="What it is called.")
    description: Annotated[str, Field(max_length=2_000)] | None = Field(None, description="What it is for.")
    client_id: Short | None = Field(None, description="The client's id, as the provider gave it.")
    client_secret: Secret | None = Field(None, description="A new secret, which takes the place of the one before.")
    events_secret: Secret | None = Field(
        None, description="Extension: the secret that signs the events which the provider sends to `events.uri`."
    )
    scopes: Scopes | None = Field(None, description="Scopes to ask for instead of the app's own.")
    additional_scopes: Scopes | None = Field(None, description="Scopes to ask for besides.")
    check: bool = Field(
        False, description="Extension: ask the provider first, and change nothing if it does not know the client."
    )


class NewOAuthApp(OAuthAppChange):
    """A client as the provider registered it; ``app`` is a slug or an id."""

    app: str = Field(description="The app's slug or id.")
    client_id: Short = Field(description="The client's id, as the provider gave it.")
    client_secret: Secret = Field(description="The client's secret. It is never shown again.")


class OAuthApp(App):
    """A project's own OAuth client: the app, with the client's fields over it. Its secret is never shown."""

    id: str = Field(examples=["oa_7Mc2Wb"])
    client_id: str = Field(examples=["Iv1.0123456789abcdef"])
    scopes: list[str] = Field(examples=[["repo"]])
    additional_scopes: list[str]
    redirect_uri: str = Field(examples=["https://connect.example.com/connect/oauth/callback/github"])
    owner_id: str = Field(examples=["proj_8Fw3ZsKd"])
    created_at: DateTime
    updated_at: DateTime


class ClientEvents(Answer):
    """The address for the provider's events of an OAuth client, and the provider's names for the address and the
    secret.
    """

    uri: str = Field(examples=["https://connect.example.com/h/app/slack/oa_7Mc2Wb"])
    address_name: str = Field(examples=["Request URL"])
    secret_name: str = Field(examples=["Signing Secret"])
    has_secret: bool = Field(description="Whether the secret was entered, without which nothing is taken in.")
    brings_secret: bool = Field(description="Whether the provider makes the secret, and sends it to the address.")
    takes_topic: bool = Field(description="Whether the name of a topic is entered in place of a secret.")
    secret_sent_at: DateTime | None = Field(description="When it sent the one that waits to be taken.")


class EventsSecret(Answer):
    """The secret that signs a client's events from now on, to be entered at the provider. It is never shown again."""

    events_secret: str = Field(examples=["secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"])


class ClientUse(Answer):
    """Patchbay's own facts about an OAuth client: its app's name, and its uses."""

    app_name: str = Field(examples=["GitHub"])
    accounts: int = Field(description="Accounts that were connected with it, in all environments.")
    shared_with: list[str] = Field(description="Other apps that use the same client, by slug.")
    used_for_new: bool = Field(description="Whether new accounts of its app are connected with it.")
    installation_has_one: bool = Field(description="Whether the installation has a client for its app besides.")
    events: ClientEvents | None = None


class ExtendedOAuthApp(OAuthApp):
    """An OAuth client; `patchbay` is there when `extensions` were asked for."""

    patchbay: ClientUse | None = None


class ClientVerdict(Answer):
    """The provider's verdict about a client, as a word and a sentence."""

    verdict: Literal["known", "unknown", "redirect_uri", "unchecked"]
    sentence: str = Field(examples=["GitHub knows this client."])


class CheckedOAuthApp(OAuthApp):
    """An OAuth client; `check` is there when that was asked for."""

    check: ClientVerdict | None = None


class SharedApp(Body):
    """Another app of the same provider, by its slug or id."""

    app: str = Field(description="The app's slug or id.")


@operations.get(ALL, answer=Page[ExtendedOAuthApp], query=OAuthAppList, example=Example(query={"app": "github"}))
def list_oauth_apps(call: Call) -> Response:
    """The project's own clients, oldest first."""
    query = call.query(OAuthAppList)
    client_filter = OAuthAppFilter(apps.slug_of(call.service, query.app) if query.app else None, query.q)
    clients = oauth_apps.page(call.store, call.scene.project_id, client_filter, query.window)
    return answer_page(clients, lambda client: to_json(call.service, client, extensions=query.extensions))


@operations.post(
    ALL,
    answer=CheckedOAuthApp,
    body=NewOAuthApp,
    example=Example(body={"app": "github", "client_id": "Iv1.0123456789abcdef", "client_secret": "secret"}),
)
def create_oauth_app(call: Call) -> Response:
    """Register a client. Accounts that connect from now on use the newest one of their app."""
    body = call.body(NewOAuthApp)
    app = call.service.catalog.app(body.app)
    if app is None or not app.takes_clients:
        message = "There is no such app." if app is None else f"{app.name} is not connected by OAuth."
        raise Invalid.of("app", message)
    app = app.by_sign_in
    _check_events(app, body)
    uri = redirect_uris.of_new_client(call.service, app.slug)
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


@operations.get(ONE, answer=ExtendedOAuthApp, query=OAuthAppOptions)
def get_oauth_app(call: Call) -> Response:
    """One client."""
    return answer(to_json(call.service, load(call), extensions=call.query(OAuthAppOptions).extensions))


@operations.put(
    ONE,
    answer=CheckedOAuthApp,
    body=OAuthAppChange,
    example=Example(body={"name": "Our GitHub client"}),
)
def update_oauth_app(call: Call) -> Response:
    """Change a client; another client id is refused while accounts use this one."""
    client, body = load(call), call.body(OAuthAppChange)
    _check_events(call.service.app(client.app).by_sign_in, body)
    changed, secret = _changed(client, body), body.client_secret
    verdict = None
    if body.check:
        known = secret or oauth_apps.secret(call.service, client)
        uri = redirect_uris.of(call.service, client.callback)
        verdict = _checked(call.service, call.service.app(client.app).by_sign_in, changed.client_id, known, uri)
    updated = oauth_apps.update(call.service, changed, client_secret=secret, events_secret=body.events_secret)
    if body.events_secret:
        subscriptions.begin(call.service, updated.id)
    return _answer(call, updated, verdict)


@operations.delete(ONE)
def delete_oauth_app(call: Call) -> Response:
    """Remove a client; 409 while accounts were connected with it, since their tokens could not be refreshed."""
    oauth_apps.remove(call.service, load(call))
    return no_content()


def load(call: Call) -> oauth_apps.OAuthApp:
    """The client that the address names, if it is the project's own. Raises :class:`webapp.errors.NotFound`."""
    return oauth_apps.own(call.store, call.scene.project_id, call.path["oauth_app_id"])


def to_json(service: Service, client: oauth_apps.OAuthApp, *, extensions: bool = False) -> dict[str, Any]:
    """The JSON of a client, with Patchbay's own facts if requested."""
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
        "redirect_uri": redirect_uris.of(service, client.callback),
        "owner_id": client.project_id,
        "created_at": iso(client.created_at),
        "updated_at": iso(client.updated_at),
    }
    if extensions:
        use = asdict(oauth_apps.use_of(service.store, client))
        document["patchbay"] = {"app_name": app["name"], **use, "events": events_secrets.facts_of(service, client)}
    return document


def _check_events(app: CatalogApp, body: OAuthAppChange) -> None:
    if body.events_secret:
        events_secrets.check(app, body.events_secret)


def _changed(client: oauth_apps.OAuthApp, body: OAuthAppChange) -> oauth_apps.OAuthApp:
    """``client`` with all of ``body`` but the secret."""
    return replace(
        client,
        name=client.name if body.name is None else body.name,
        description=client.description if body.description is None else body.description,
        client_id=body.client_id or client.client_id,
        scopes=client.scopes if body.scopes is None else tuple(body.scopes),
        additional_scopes=client.additional_scopes if body.additional_scopes is None else tuple(body.additional_scopes),
    )


def _answer(call: Call, client: oauth_apps.OAuthApp, verdict: oauth_app_checks.ClientVerdict | None) -> Response:
    document = to_json(call.service, client)
    return answer({**document, "check": asdict(verdict)} if verdict else document)


def _checked(
    service: Service, app: CatalogApp, client_id: str, client_secret: str | None, redirect_uri: str
) -> oauth_app_checks.ClientVerdict:
    """The verdict of the provider of ``app`` about a client.

    Raises :class:`Invalid` if nobody could connect with it.
    """
    verdict = oauth_app_checks.check(service, app, client_id, client_secret, redirect_uri)
    if verdict.refused:
        raise Invalid.of("redirect_uri" if verdict.verdict == "redirect_uri" else "client_id", verdict.sentence)
    return verdict


@operations.post(
    f"{ONE}/check",
    answer=ClientVerdict,
    example=Example(path={"oauth_app_id": "$SANDBOX_OAUTH_APP_ID"}),
    extension=True,
)
def check_oauth_app(call: Call) -> Response:
    """Ask the provider whether it knows a client. Nobody signs in, and nothing changes."""
    client = load(call)
    verdict = oauth_app_checks.check(
        call.service,
        call.service.app(client.app).by_sign_in,
        client.client_id,
        oauth_apps.secret(call.service, client),
        redirect_uris.of(call.service, client.callback),
    )
    return answer(asdict(verdict))


@operations.post(
    f"{ONE}/share",
    answer=OAuthApp,
    body=SharedApp,
    example=Example(path={"oauth_app_id": "$GOOGLE_OAUTH_APP_ID"}, body={"app": "google_calendar"}),
    extension=True,
)
def share_oauth_app(call: Call) -> Response:
    """Let another app of the provider use a client, as a client of its own with the same id and secret."""
    client = load(call)
    app = call.service.catalog.app(call.body(SharedApp).app)
    if app is None or app.slug not in oauth_apps.family(call.service, client.app):
        raise Invalid.of("app", "A client can be shared only with another app of its provider.")
    return answer(to_json(call.service, oauth_apps.share(call.service, client, app.slug)))


@operations.post(
    f"{ONE}/events_secret",
    answer=EventsSecret,
    example=Example(path={"oauth_app_id": "$NOTION_OAUTH_APP_ID"}),
    extension=True,
)
def take_events_secret(call: Call) -> Response:
    """Take the secret that the provider sent to the client's address for events; it signs from now on. 409 while it has
    sent none."""
    return answer({"events_secret": events_secrets.take_handshake(call.service, load(call))})
