"""Where agents find out how people sign in (RFC 8414)."""

from typing import Any

from webapp.service.domain.base.service import Service

SCOPE = "mcp"
BASE = "/mcp/oauth"
RESOURCE = "/mcp"


def issuer(service: Service) -> str:
    """Who issues the tokens."""
    return service.settings.public_url + BASE


def resources(service: Service) -> tuple[str, ...]:
    """What the tokens are for (RFC 8707), as clients write it."""
    address = service.settings.public_url + RESOURCE
    return address, f"{address}/", service.settings.public_url, f"{service.settings.public_url}/"


def server_metadata(service: Service) -> dict[str, Any]:
    """What the authorization server can do."""
    base = issuer(service)
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "registration_endpoint": f"{base}/register",
        "revocation_endpoint": f"{base}/revoke",
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": f"{service.settings.public_url}/docs/agents",
    }
