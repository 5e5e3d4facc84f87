"""The start of a sign-in at a provider: a link that works once and opens in a window, a tab or this page.

It is a GET on purpose: no form may lead to another origin, and a window must be opened by the very click. It sets
the cookie that binds ``state`` to this browser (RFC 6749 section 10.12), then sends the person on with a 303.
"""

from flask import Blueprint, Response, request

from webapp.service.catalog.app import App
from webapp.service.domain.accounts import attempts, provider, provider_clients
from webapp.service.domain.accounts.attempts import Attempt, SignInStart
from webapp.service.domain.accounts.provider_clients import ProviderClient
from webapp.service.domain.base.failures import AttemptUnknown, LinkExpired, NoClient, RejectedByProvider
from webapp.service.domain.base.service import Service
from webapp.service.link import access
from webapp.service.link.answers import see_other
from webapp.service.outbound import oauth
from webapp.service.outbound.templates import TemplateError

BINDING_PATH = "/connect/oauth"
BINDING_KEPT_S = 30 * 60


def route(blueprint: Blueprint, service: Service) -> None:
    """Add the route of this module to ``blueprint``."""

    @blueprint.get("/_static/connect/start/<secret>")
    def start(secret: str) -> Response:
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise AttemptUnknown  # nobody is sent here past the page that says who asks for what
        attempt = attempts.find(service, secret)
        if attempt is None:
            raise AttemptUnknown
        return begin(service, attempt, secret)


def begin(service: Service, attempt: Attempt, secret: str) -> Response:
    """Start ``attempt`` and leave for the provider. Raises :class:`ConnectFailed` kinds."""
    token = attempts.token_of(service.store, attempt)
    if token.expires_at <= service.clock():
        raise LinkExpired
    app = service.app(attempt.app)
    client = provider_clients.choose(service.store, attempt.project_id, app.slug, attempt.oauth_app_id)
    if client is None:
        raise NoClient
    profile = request.args.get("profile", "")
    profile = profile if app.profile_scopes(profile) else ""
    begun = attempts.start(
        service,
        secret,
        scopes=access.scopes_of(app, client, profile),
        scope_profile=profile or None,
        oauth_app_id=client.id,
        mode="window" if request.args.get("window") == "1" else "tab",
    )
    response = see_other(_authorization_url(service, app, client, begun))
    response.set_cookie(
        binding_cookie(begun.attempt),
        begun.binding,
        max_age=BINDING_KEPT_S,
        path=BINDING_PATH,
        secure=service.settings.secure,
        httponly=True,
        samesite="Lax",
    )
    return response


def binding_cookie(attempt: Attempt) -> str:
    """The cookie of one sign-in; two at once in one browser do not disturb each other."""
    return f"patchbay_signin_{attempt.id[:16]}"


def redirect_uri(service: Service) -> str:
    """The one redirect URI, exactly as it is registered with providers (RFC 9700 section 2.1)."""
    return f"{service.settings.public_url}/connect/oauth/callback"


def _authorization_url(service: Service, app: App, client: ProviderClient, begun: SignInStart) -> str:
    try:
        where = provider.oauth_provider(service, app, client, begun.fields)
    except TemplateError as error:
        raise RejectedByProvider(f"{app.name} cannot be reached with what was entered. Start again.") from error
    return oauth.authorization_url(
        where,
        redirect_uri=redirect_uri(service),
        state=begun.state,
        verifier=begun.verifier,
        scopes=begun.attempt.scopes,
    )
