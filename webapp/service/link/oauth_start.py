"""The start of a sign-in at an OAuth provider: the browser is sent there, with what to ask and a cookie to come back
with (:mod:`.oauth_callback`).
"""

from flask import Blueprint, Response, request

from webapp.service.catalog.app import App
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import (
    attempts,
    oauth_apps,
    provider,
    provider_scopes,
    redirect_uris,
    registered_clients,
)
from webapp.service.domain.accounts.attempts import Attempt, SignInStart
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import (
    AttemptUnknown,
    ConnectFailed,
    LinkExpired,
    NoClient,
    ProviderDown,
    RejectedByProvider,
)
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import hosted_servers
from webapp.service.link.responses import see_other
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.templates import TemplateError
from webapp.settings import Settings

COOKIE_PATH = "/connect/oauth"
COOKIE_KEPT_S = 30 * 60


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the route of this module to ``blueprint``."""

    @blueprint.get("/_static/connect/start/<secret>")
    def start(secret: str) -> Response:
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise AttemptUnknown  # only from the page that says who asks for what
        attempt = attempts.find(service, secret)
        if attempt is None:
            raise AttemptUnknown
        return begin(service, attempt, secret)


def begin(service: Service, attempt: Attempt, secret: str) -> Response:
    """Start ``attempt`` and redirect to the provider. Raises subclasses of :class:`ConnectFailed`."""
    token = attempts.token_of(service.store, attempt)
    if token.expires_at <= service.clock():
        raise LinkExpired
    app = hosted_servers.prepared(service, service.app(attempt.app).by_sign_in)
    client = client_of(service, token, attempt)
    if client is None:
        raise NoClient
    client = registered_clients.known(service, app, client)
    profile = request.args.get("profile", "")
    profile = profile if app.profile_scopes(profile) else ""
    usual = provider_scopes.asked_for(app, client, profile)
    started = attempts.start(
        service,
        secret,
        scopes=tuple(dict.fromkeys((*usual, *attempt.scopes))),
        scope_profile=profile or None,
        oauth_app_id=client.id,
        mode="window" if request.args.get("window") == "1" else "tab",
    )
    try:
        address = _authorization_url(service, app, client, started)
    except ConnectFailed as error:
        attempts.fail(service, started.attempt, error)
        raise
    response = see_other(address)
    response.set_cookie(
        binding_cookie(service.settings, started.attempt),
        started.binding,
        max_age=COOKIE_KEPT_S,
        path=COOKIE_PATH,
        secure=service.settings.secure,
        httponly=True,
        samesite="Lax",
    )
    return response


def binding_cookie(settings: Settings, attempt: Attempt) -> str:
    """The name of the cookie of one sign-in, so that several can run in one browser."""
    return f"{settings.path_cookie}patchbay_signin_{attempt.id[:16]}"


def _authorization_url(service: Service, app: App, client: OAuthApp, started: SignInStart) -> str:
    try:
        oauth_provider = provider.oauth_provider(service, app, client, started.fields, started.attempt.scope_profile)
    except TemplateError as error:
        raise RejectedByProvider(f"{app.name} cannot be reached with what was entered. Start again.") from error
    redirect_uri = redirect_uris.of(service, client.callback)
    if oauth_provider.request_token_url:
        address = attempts.begin_oauth1(service, app, oauth_provider, redirect_uri, started)
        if not isinstance(address, str):
            raise rejection(address)
        return address
    return oauth.authorization_url(
        oauth_provider,
        redirect_uri=redirect_uri,
        state=started.state,
        verifier=started.verifier,
        scopes=started.attempt.scopes,
    )


def client_of(service: Service, token: ConnectToken, attempt: Attempt) -> OAuthApp | None:
    """The OAuth app that ``attempt`` signs in with; None where there is none yet."""
    return oauth_apps.choose(
        service.store, token.scene.project_id, attempt.app, attempt.oauth_app_id, user_id=token.user.id
    )


def rejection(failure: OAuthFailure) -> ConnectFailed:
    """What the person is told of ``failure``."""
    return ProviderDown(failure.sentence) if failure.kind == "temporary" else RejectedByProvider(failure.sentence)
