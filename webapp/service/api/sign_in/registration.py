"""``POST /mcp/oauth/register``: an agent makes itself known (RFC 7591), limited for each network address."""

from typing import Any

from flask import Request

from webapp import quotas
from webapp.errors import Invalid, UnsupportedMedia
from webapp.kit.clock import SECOND
from webapp.kit.networks import network_of
from webapp.people.agents import clients
from webapp.service.api.base.call import read_json
from webapp.service.api.base.problems import OAuthProblem
from webapp.service.api.sign_in.metadata import SCOPE
from webapp.service.domain.base.service import Service

MAX_BODY_BYTES = 32 * 1024


def register(service: Service, request: Request) -> dict[str, Any]:
    """The agent as it is registered. Raises :class:`OAuthProblem`, and :class:`webapp.errors.Throttled`."""
    service.count(quotas.AGENT_REGISTRATIONS, network_of(request.remote_addr or ""))
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise _invalid("The body is too large.")
    try:
        body = read_json(request)
    except (Invalid, UnsupportedMedia) as error:
        raise _invalid(error.message) from error
    _check_kind(body)
    name, uris = body.get("client_name", ""), body.get("redirect_uris")
    if not isinstance(name, str):
        raise _invalid("client_name must be a string.")
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise OAuthProblem("invalid_redirect_uri", "redirect_uris must be a list of addresses.")
    try:
        client = clients.register(service.store, service.clock, name=name, redirect_uris=tuple(uris))
    except Invalid as error:
        raise OAuthProblem("invalid_redirect_uri", error.message) from error
    return {
        "client_id": client.id,
        "client_id_issued_at": client.created_at // SECOND,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": SCOPE,
    }


def _check_kind(body: dict[str, Any]) -> None:
    """Refuse an agent that wants what there is not. It gets no secret, whichever way it would like to prove itself."""
    for name, known in (("grant_types", "authorization_code"), ("response_types", "code")):
        values = body.get(name)
        if values is not None and (not isinstance(values, list) or known not in values):
            raise _invalid(f"{name} must hold {known}.")


def _invalid(description: str) -> OAuthProblem:
    return OAuthProblem("invalid_client_metadata", description)
