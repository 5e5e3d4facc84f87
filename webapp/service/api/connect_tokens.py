"""Connect tokens (contract "Connect tokens"): creating one, and describing it to the page that has it."""

from typing import Annotated, Any

import orjson
from flask import Response
from pydantic import Field

from webapp.connect_token_facts import MAX_LIFETIME_S
from webapp.errors import Invalid, NotFound, Unauthorized
from webapp.kit.clock import iso
from webapp.service.api.apps import App
from webapp.service.api.base import cors
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import (
    Answer,
    Body,
    DateTime,
    Extensions,
    ExternalUserId,
    ProjectId,
    Query,
)
from webapp.service.api.base.operations import USER, Example, Group, Operations, PathParameter
from webapp.service.catalog.app import App as CatalogApp
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import project_logos, projects
from webapp.service.domain.projects.projects import Project

TOKENS = Group("Connect tokens", "A short-lived token for one of your users, which a browser may hold.")
operations = Operations(TOKENS, PathParameter("ctok", "The Connect token.", "$CTOK"))


class NewToken(Body):
    """The user of a token, and the app that its link opens with."""

    external_user_id: ExternalUserId
    project_id: ProjectId | None = Field(None, description="The project's id again; it may be left out.")
    allowed_origins: list[str] | None = Field(
        None, description="Origins of pages that may use the token; needed in browsers."
    )
    error_redirect_uri: str | None = Field(None, description="Where to go on after a failure.")
    success_redirect_uri: str | None = Field(None, description="Where to go on after a success.")
    webhook_uri: str | None = Field(None, description="Where to send a notification of the outcome.")
    expires_in: Annotated[int, Field(ge=1, le=MAX_LIFETIME_S)] | None = Field(
        None, description="For how many seconds the token works; four hours unless given."
    )
    scope: str | None = Field(None, description="Scopes, separated by spaces.")
    allow_progressive_scopes: bool | None = Field(
        None, description="Whether people may allow a part of the app's scopes."
    )
    app_id: str | None = Field(None, description="The app that the link opens with, by slug or id.")
    oauth_app_id: str | None = Field(None, description="The OAuth client's id (`oa_…`).")


class ValidityQuery(Query):
    """What a page is about to connect."""

    app_id: str | None = Field(None, description="The slug or id of the app that is about to be connected.")
    account_id: str | None = Field(None, description="The account's id (`apn_…`).")
    oauth_app_id: str | None = Field(None, description="The OAuth client's id (`oa_…`).")
    extensions: Extensions = False


class ConnectToken(Answer):
    """A Connect token, and the page on which its user connects an account."""

    token: str = Field(pattern="^ctok_[0-9a-f]{32}$", examples=["ctok_0123456789abcdef0123456789abcdef"])
    expires_at: DateTime
    connect_link_url: str = Field(
        examples=["https://connect.example.com/_static/connect.html?token=ctok_…&connectLink=true"]
    )


class TokenValidity(Answer):
    """Whether a Connect token works; all but `success` and `error` are there when it does."""

    success: bool
    error: str = ""
    app: App | None = None
    project_id: str = ""
    project_environment: str = ""
    project_app_name: str = ""
    project_support_email: str = ""
    success_redirect_uri: str | None = None
    error_redirect_uri: str | None = None
    oauth_app_id: str | None = None
    project_brand_hue: int = Field(0, description="When `extensions` were asked for, as what follows.")
    project_logo_url: str = ""
    external_user_id: str = ""
    user_id: str = Field("", examples=["exu_7Rt2Mw"])
    allowed_origins: list[str] = Field([])
    scope: str = ""
    expires_at: DateTime = Field("", description="Until when it works.")
    link_used: bool = Field(False, description="Whether its Connect Link is used up.")


@operations.post(
    "P/tokens",
    answer=ConnectToken,
    scopes=(token_scopes.TOKENS_CREATE,),
    connect=False,
    body=NewToken,
    limit="tokens",
    example=Example(
        body={"external_user_id": USER, "allowed_origins": ["https://app.example.com"], "expires_in": 3600}
    ),
)
def create_token(call: Call) -> Response:
    """Make a token for one external user."""
    body = call.body(NewToken)
    request = _token_request(call, body)
    return answer(connect_tokens.create(call.service, call.scene, request, client_id=call.caller.client_id))


@operations.get(
    "/v1/connect/tokens/<ctok>/validate",
    answer=TokenValidity,
    public=True,
    errors=(403,),
    query=ValidityQuery,
    example=Example(query={"app_id": "sandbox"}),
)
def validate_token(call: Call) -> Response:
    """Whether a token is valid, whose it is, and the app that a page wants to connect with it."""
    ctok, origin, query = call.path["ctok"], call.request.environ.get("HTTP_ORIGIN"), call.query(ValidityQuery)
    try:
        token = connect_tokens.verify(call.service, ctok)
        if origin and not cors.admits(call.service, origin, ctok):
            raise cors.refuse(call.service, origin, ctok)
        return answer({"success": True, **_validity(call.service, token, query)})
    except (Unauthorized, NotFound) as error:
        refusal = answer({"success": False, "error": error.message})
        if origin and cors.knows(call.service, origin):  # an unknown token names no origins
            cors.open_to(refusal, origin)
        return refusal


def _token_request(call: Call, body: NewToken) -> connect_tokens.TokenRequest:
    if body.project_id and body.project_id != call.scene.project_id:
        message = "It differs from the project in the path; leave it out."
        raise Invalid.of("project_id", message)
    app = _preset_app(call, body)
    return connect_tokens.TokenRequest(
        external_user_id=body.external_user_id,
        expires_in=body.expires_in or connect_tokens.USUAL_LIFETIME_S,
        scope=body.scope or token_scopes.CONNECT,
        allowed_origins=body.allowed_origins or (),
        success_redirect_uri=body.success_redirect_uri or None,
        error_redirect_uri=body.error_redirect_uri or None,
        webhook_uri=body.webhook_uri or None,
        allow_progressive_scopes=bool(body.allow_progressive_scopes),
        app=app.slug if app else None,
        oauth_app_id=body.oauth_app_id or None,
    )


def _preset_app(call: Call, body: NewToken) -> CatalogApp | None:
    """The app that the token's link opens with. Raises :class:`Invalid` for another app's or project's OAuth client."""
    field = "app_id"
    try:
        app = call.service.app(body.app_id) if body.app_id else None
        field = "oauth_app_id"
        if body.oauth_app_id:
            _check_client(call.service, call.scene.project_id, app, body.oauth_app_id)
    except NotFound as error:
        raise Invalid.of(field, error.message) from error
    return app


def _check_client(service: Service, project_id: str, app: CatalogApp | None, oauth_app_id: str) -> None:
    """Raise :class:`NotFound` unless ``oauth_app_id`` is a client that ``project_id`` may use, for ``app``."""
    slug = app.slug if app else oauth_apps.get(service.store, oauth_app_id).app
    oauth_apps.choose(service.store, project_id, slug, oauth_app_id)


def _validity(service: Service, token: connect_tokens.ConnectToken, query: ValidityQuery) -> dict[str, Any]:
    """The answer of a valid token. Raises :class:`NotFound` for an app, client or account that is not there."""
    slug, oauth_app_id = query.app_id or token.app, query.oauth_app_id or token.oauth_app_id
    app = service.app(slug) if slug else None
    if oauth_app_id:
        _check_client(service, token.scene.project_id, app, oauth_app_id)
    connections.to_reconnect(service, token, app if query.app_id else None, query.account_id or None)
    project = projects.get(service.store, token.scene.project_id)
    return {
        "app": orjson.Fragment(app.with_client(oauth_app_id)) if app else None,
        "project_id": project.id,
        "project_environment": token.scene.environment,
        "project_app_name": project.app_name,
        "project_support_email": project.support_email,
        "success_redirect_uri": token.success_redirect_uri,
        "error_redirect_uri": token.error_redirect_uri,
        "oauth_app_id": oauth_app_id,
        **(_extensions(service, token, project) if query.extensions else {}),
    }


def _extensions(service: Service, token: connect_tokens.ConnectToken, project: Project) -> dict[str, Any]:
    """The facts with which a page is drawn for the token's user."""
    return {
        "project_brand_hue": project.brand_hue,
        "project_logo_url": project_logos.url(service, project.id),
        "external_user_id": token.user.external_id,
        "user_id": token.user.id,
        "allowed_origins": token.allowed_origins,
        "scope": token.scope,
        "expires_at": iso(token.expires_at),
        "link_used": token.linked_by is not None,
    }
