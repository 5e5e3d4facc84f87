"""The sign-in of agents, without its page, which the dashboard has: metadata of the authorization server (RFC 8414),
registration of clients (``POST /mcp/oauth/register``, RFC 7591, limited for each network address), and the exchange
and revocation of codes and tokens (``POST /mcp/oauth/token`` and ``/mcp/oauth/revoke``, RFC 6749 and 7009).
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Flask, Request, Response, request

from webapp import body_limits, quotas
from webapp.errors import Forbidden, Invalid, NotFound, Unauthorized, UnsupportedMedia
from webapp.kit import crypto
from webapp.kit.clock import SECOND
from webapp.kit.networks import network_of
from webapp.people.agents import clients, tokens
from webapp.people.agents.tokens import TokenPair
from webapp.service.api.base import cors
from webapp.service.api.base.call import answer, holds_nul, read_json
from webapp.service.api.base.problems import OAuthProblem, answer_error
from webapp.service.domain.agents import sessions, sign_ins
from webapp.service.domain.base.service import Service

SCOPE = "mcp"
BASE = "/mcp/oauth"
RESOURCE = "/mcp"
_REVISION = "mcp-protocol-version"  # a header that clients also send here


def register(app: Flask, service: Service) -> None:
    """Serve metadata, registration, tokens and revocation from ``app``."""
    blueprint = Blueprint("agent_sign_in", __name__)

    @blueprint.before_request
    def offered() -> None:
        if service.settings.connect_url:
            raise NotFound

    @blueprint.before_request
    def preflight() -> Response | None:
        return cors.preflight_of_all(request, _REVISION) if cors.is_preflight(request) else None

    @blueprint.get(f"/.well-known/oauth-authorization-server{BASE}")
    @blueprint.get("/.well-known/oauth-authorization-server")
    @blueprint.get(f"{BASE}/.well-known/oauth-authorization-server")
    def show_metadata() -> Response:
        return answer(_server_metadata(service))

    @blueprint.post(f"{BASE}/register")
    def create_client() -> Response:
        return answer(_register_agent(service, request), 201)

    @blueprint.post(f"{BASE}/token")
    def create_tokens() -> Response:
        return answer(exchange(service, request))

    @blueprint.post(f"{BASE}/revoke")
    def end_tokens() -> Response:
        revoke(service, request)
        return answer({})

    @blueprint.errorhandler(Exception)
    def refuse(error: Exception) -> Response:
        return answer_error(error, crypto.request_id())

    blueprint.after_request(_finished)
    app.register_blueprint(blueprint)


def _finished(response: Response) -> Response:
    """Complete a response.

    Responses with tokens are not cached (RFC 6749 section 5.1). Pages of all origins may read them, since an agent in a
    page has its codes, verifiers and tokens itself, and no cookie counts here.
    """
    cors.open_to_all(response, request)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Pragma"] = "no-cache"
    return response


def issuer(service: Service) -> str:
    """Who issues the tokens."""
    return service.settings.public_url + BASE


def resources(service: Service) -> tuple[str, ...]:
    """The resources that the tokens are for (RFC 8707), in the forms that clients send."""
    address = service.settings.public_url + RESOURCE
    return address, f"{address}/", service.settings.public_url, f"{service.settings.public_url}/"


def _server_metadata(service: Service) -> dict[str, Any]:
    """The metadata of the authorization server."""
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


def _register_agent(service: Service, request: Request) -> dict[str, Any]:
    """The agent as it is registered. Raises :class:`OAuthProblem`, and :class:`webapp.errors.Throttled`."""
    service.count(quotas.AGENT_REGISTRATIONS, network_of(request.remote_addr or ""))
    if (request.content_length or 0) > body_limits.AGENT_REGISTRATION:
        raise _invalid_registration("The body is too large.")
    try:
        body = read_json(request)
    except (Invalid, UnsupportedMedia) as error:
        raise _invalid_registration(error.message) from error
    _check_kind(body)
    name, uris = body.get("client_name", ""), body.get("redirect_uris")
    if not isinstance(name, str):
        raise _invalid_registration("client_name must be a string.")
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
    """Refuse an agent that asks for unsupported features. Every agent is a public client and gets no secret."""
    for name, known in (("grant_types", "authorization_code"), ("response_types", "code")):
        values = body.get(name)
        if values is not None and (not isinstance(values, list) or known not in values):
            raise _invalid_registration(f"{name} must hold {known}.")


def _invalid_registration(description: str) -> OAuthProblem:
    return OAuthProblem("invalid_client_metadata", description)


def exchange(service: Service, request: Request) -> dict[str, Any]:
    """Tokens for a code or a refresh token. Raises :class:`OAuthProblem`."""
    form = _form(request)
    grant_type = _needed(form, "grant_type")
    if form.get("resource") and form["resource"] not in resources(service):
        raise OAuthProblem("invalid_target", "These tokens are for another resource.")
    if grant_type == "authorization_code":
        pair = tokens.exchange_code(
            service.store,
            service.clock(),
            code=_needed(form, "code"),
            client_id=_needed(form, "client_id"),
            redirect_uri=form.get("redirect_uri"),
            verifier=_needed(form, "code_verifier"),
        )
    elif grant_type == "refresh_token":
        token, client_id = _needed(form, "refresh_token"), _needed(form, "client_id")
        pair = tokens.exchange_refresh(service.store, service.clock(), token=token, client_id=client_id)
    else:
        raise OAuthProblem("unsupported_grant_type", "Use authorization_code or refresh_token.")
    return _answer(pair if pair and _enter(service, pair, form["client_id"]) else None)


def revoke(service: Service, request: Request) -> None:
    """Revoke a token; an unknown one counts as revoked. Raises :class:`OAuthProblem`."""
    form = _form(request)
    token, client_id = _needed(form, "token"), _needed(form, "client_id")
    tokens.revoke(service.store, service.clock(), token=token, client_id=client_id)


def _enter(service: Service, pair: TokenPair, client_id: str) -> bool:
    """Show the agent to its person before its first call; return whether the person may still sign in.

    Raises :class:`OAuthProblem` if there are too many agents.
    """
    try:
        agent = sign_ins.recognise(service, pair.access)
        sessions.enter(service, agent.scene, agent.external_id, agent.entry, agent.name)
    except (Forbidden, Unauthorized) as error:
        tokens.revoke(service.store, service.clock(), token=pair.access, client_id=client_id)
        if isinstance(error, Unauthorized):
            return False
        raise OAuthProblem("access_denied", error.message) from error
    return True


def _answer(pair: TokenPair | None) -> dict[str, Any]:
    if pair is None:
        raise OAuthProblem("invalid_grant", "This does not work, or no longer; let the person sign in again.")
    return {
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": pair.expires_in,
        "refresh_token": pair.refresh,
        "scope": SCOPE,
    }


def _form(request: Request) -> Mapping[str, str]:
    """The fields of the body, each at most once; one that is empty is as good as absent."""
    if request.mimetype != "application/x-www-form-urlencoded":
        raise _invalid("Send the body as application/x-www-form-urlencoded.")
    request.max_content_length = body_limits.AGENT_SIGN_IN
    fields = request.form.to_dict(flat=False)
    if twice := next((name for name, values in fields.items() if len(values) > 1 and name != "resource"), None):
        raise _invalid(f"{twice[:100]} is there more than once.")
    form = {name: values[0] for name, values in fields.items() if values[0]}
    if holds_nul(form):
        raise _invalid("The body holds a NUL character; leave it out.")
    return form


def _needed(form: Mapping[str, str], name: str) -> str:
    if name not in form:
        raise _invalid(f"{name} is missing.")
    return form[name]


def _invalid(description: str) -> OAuthProblem:
    return OAuthProblem("invalid_request", description)
