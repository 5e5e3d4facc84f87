"""OAuth clients that nobody has to make, at the authorization servers of MCP servers.

A client is the address of a document about it (``PUBLIC_URL/.well-known/oauth-client/<server>``) where the server takes
such an id, else it is registered (RFC 7591); else an owner makes one. Each authorization server has a document of its
own, with only its own redirect URI. A server may forget a client that it registered: it is asked when somebody connects
an account, and a new client is registered then. Accounts that were connected with the old one are reconnected by their
people, since no new client can renew their tokens.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webapp.errors import Conflict, Invalid
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import oauth_app_checks, oauth_apps, redirect_uris
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import ProviderDown, RejectedByProvider
from webapp.service.domain.base.service import Service
from webapp.service.outbound import mcp_sign_in
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.mcp_sign_in import McpSignIn
from webapp.service.outbound.oauth import TokenAuthMethod

DOCUMENT = "/.well-known/oauth-client"
_OWN_CLIENT = "Choose oauth, and add a client that you made there yourself."
_REGISTERED = "Registered by itself at {issuer}."


@dataclass(frozen=True, slots=True)
class Registration:
    """A client at ``issuer`` that is not stored yet. ``callback`` identifies the server in its redirect URI."""

    issuer: str
    callback: str
    client_id: str
    secret: str | None = field(repr=False)
    method: TokenAuthMethod


def document(service: Service, server: str) -> Mapping[str, Any]:
    """The document about the client for the authorization server at the host ``server``; "" for servers that name
    themselves in their answers."""
    home = service.settings.public_url
    metadata = mcp_sign_in.client_metadata(redirect_uris.of(service, server), home)
    return {"client_id": _address(service, server), **metadata}


def make(service: Service, sign_in: McpSignIn) -> Registration:
    """A client at the authorization server of ``sign_in``. Raises :class:`Invalid` where an owner has to make one."""
    server = "" if sign_in.iss_required else urlsplit(sign_in.issuer).hostname or ""
    uri, home = redirect_uris.of(service, server), service.settings.public_url
    if sign_in.takes_documents and home.startswith("https://"):
        return Registration(sign_in.issuer, server, _address(service, server), None, "none")
    if not sign_in.register_url:
        raise Invalid.of("auth", f"Clients cannot register themselves there. {_OWN_CLIENT}")
    outcome = mcp_sign_in.register(service.outbound, sign_in, redirect_uri=uri, home=home)
    if isinstance(outcome, Failure):
        raise Invalid.of("auth", f"{outcome.sentence} {_OWN_CLIENT}")
    return Registration(sign_in.issuer, server, outcome.client_id, outcome.secret, outcome.method)


def add(service: Service, slug: str, name: str, registration: Registration) -> OAuthApp:
    """Store the client for the app ``slug`` of the whole installation."""
    return oauth_apps.add(
        service,
        app=slug,
        client_id=registration.client_id,
        client_secret=registration.secret,
        name=name,
        description=_REGISTERED.format(issuer=registration.issuer),
        registered_issuer=registration.issuer,
        callback=registration.callback,
    )


def at(service: Service, slug: str, issuer: str) -> OAuthApp | None:
    """The client of the app ``slug`` at ``issuer`` for the address that this installation has now."""
    clients = oauth_apps.self_registered(service.store, slug)
    return next((each for each in clients if each.registered_issuer == issuer and _is_current(service, each)), None)


def known(service: Service, app: App, client: OAuthApp) -> OAuthApp:
    """``client`` as its server knows it when somebody is about to sign in: a new one, if the server forgot it or this
    installation has another address by now. A client that somebody made is never replaced.

    Raises :class:`RejectedByProvider` and :class:`ProviderDown` where no new one can be had.
    """
    server = app.mcp_request
    if client.registered_issuer is None or server is None:
        return client
    if _is_current(service, client) and not _is_forgotten(service, app, client):
        return client
    sign_in = mcp_sign_in.discover(service.client_for(app), server.url)
    if isinstance(sign_in, Failure):
        raise ProviderDown(
            f"{app.name} no longer knows this service, and a new client cannot be made. {sign_in.sentence}"
        )
    if sign_in.issuer != client.registered_issuer:
        host = urlsplit(sign_in.issuer).hostname
        raise RejectedByProvider(
            f"{app.name} now signs people in at {host}. Whoever runs this service must look at it first, and add the "
            "server again."
        )
    try:
        registration = make(service, sign_in)
    except Invalid as error:
        raise ProviderDown(f"{app.name} no longer knows this service, and registers no new client.") from error
    if registration.method not in ("none", app.oauth and app.oauth.token_auth_method):
        raise RejectedByProvider(f"{app.name} has changed how clients sign in; its server must be added again.")
    renewed = add(service, app.slug, client.name, registration)
    _remove(service, client)
    return renewed


def forget(service: Service, slug: str) -> None:
    """Delete the clients of the app ``slug`` that registered themselves, unless accounts use them."""
    for client in oauth_apps.self_registered(service.store, slug):
        _remove(service, client)


def _is_current(service: Service, client: OAuthApp) -> bool:
    return client.registered_uri == redirect_uris.of(service, client.callback)


def _is_forgotten(service: Service, app: App, client: OAuthApp) -> bool:
    """Whether the server says that it does not know ``client``. A document is read anew at each sign-in."""
    if client.client_id == _address(service, client.callback):
        return False
    secret = oauth_apps.secret(service, client)
    return oauth_app_checks.check(service, app, client.client_id, secret, client.registered_uri).refused


def _remove(service: Service, client: OAuthApp) -> None:
    with suppress(Conflict):  # accounts use it; a purge removes it after them
        oauth_apps.remove(service, client)


def _address(service: Service, server: str) -> str:
    return "/".join(part for part in (f"{service.settings.public_url}{DOCUMENT}", server) if part)
