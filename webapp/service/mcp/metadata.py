"""Where a client learns how to sign in: protected resource metadata (RFC 9728) and the challenge that names it."""

from typing import Any

from webapp.service.api.sign_in import metadata as sign_in
from webapp.service.domain.base.service import Service

PATH = "/mcp"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


def resource(service: Service) -> dict[str, Any]:
    """What is protected here, and by whom (RFC 9728 section 2).

    Where the dashboard works with another service nobody signs in here, and agents bring a token.
    """
    home = service.settings.public_url
    servers = {} if service.settings.connect_url else {"authorization_servers": [sign_in.issuer(service)]}
    return {
        "resource": f"{home}{PATH}",
        **servers,
        "scopes_supported": [sign_in.SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Patchbay",
        "resource_documentation": f"{home}/docs/agents",
    }


def challenge(service: Service, *, known: bool) -> str:
    """``WWW-Authenticate`` of a 401 (RFC 9728 section 5.1); ``known``: there was no token, so none is wrong."""
    url = f'resource_metadata="{service.settings.public_url}{WELL_KNOWN}{PATH}"'
    return f"Bearer {url}" if known else f'Bearer error="invalid_token", {url}'
