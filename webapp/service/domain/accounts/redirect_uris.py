"""Redirect URIs of OAuth apps: where providers send people back after a sign-in, below ``/connect/oauth/callback``.

Authorization servers whose answers do not name them have a redirect URI each, so that the answer of one is not accepted
as another's (RFC 9700 section 4.4.2). Its end, the ``callback`` of a client, is stored with the client, since its
provider knows it by then.
"""

from urllib.parse import urlsplit

from webapp.service.domain.base.service import Service


def of_new_client(service: Service, app: str) -> str:
    """The redirect URI to register for a client of the app with slug ``app`` that is added now."""
    return of(service, callback_of(service, app))


def of(service: Service, callback: str) -> str:
    """The redirect URI of a client with this ``callback``, exactly as it is registered with its provider (RFC 9700
    section 2.1)."""
    return "/".join(part for part in (f"{service.settings.public_url}/connect/oauth/callback", callback) if part)


def callback_of(service: Service, slug: str) -> str:
    """The ``callback`` of a client of the app ``slug``: empty if its provider's answers name their issuer, else the
    issuer's host, the app's family or the app."""
    app = service.catalog.app(slug)
    oauth = app.by_sign_in.oauth if app else None
    if oauth is None or oauth.iss_required:
        return ""
    return urlsplit(oauth.issuer or "").hostname or oauth.family or slug
