"""Hangs the sign-in of agents into the web application, but for its one page, which is the dashboard's. No rules stand
here.

Where the dashboard works with another service, people are known there and not here, and there is none of this.
"""

from flask import Blueprint, Flask, Response, request

from webapp.errors import NotFound
from webapp.kit import crypto
from webapp.service.api.base import cors
from webapp.service.api.base.call import answer
from webapp.service.api.base.problems import answer_error
from webapp.service.api.sign_in import exchange, metadata, registration
from webapp.service.domain.base.service import Service

_REVISION = "mcp-protocol-version"  # which clients also send to these addresses


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

    @blueprint.get(f"/.well-known/oauth-authorization-server{metadata.BASE}")
    @blueprint.get("/.well-known/oauth-authorization-server")
    @blueprint.get(f"{metadata.BASE}/.well-known/oauth-authorization-server")
    def show_metadata() -> Response:
        return answer(metadata.server_metadata(service))

    @blueprint.post(f"{metadata.BASE}/register")
    def create_client() -> Response:
        return answer(registration.register(service, request), 201)

    @blueprint.post(f"{metadata.BASE}/token")
    def create_tokens() -> Response:
        return answer(exchange.exchange(service, request))

    @blueprint.post(f"{metadata.BASE}/revoke")
    def end_tokens() -> Response:
        exchange.revoke(service, request)
        return answer({})

    @blueprint.errorhandler(Exception)
    def refuse(error: Exception) -> Response:
        return answer_error(error, crypto.request_id())

    blueprint.after_request(_finished)
    app.register_blueprint(blueprint)


def _finished(response: Response) -> Response:
    """Answers that hold tokens are not kept (RFC 6749 section 5.1). Pages of all origins read them: an agent that is
    one has codes, verifiers and tokens in its own hand, and no cookie counts here."""
    cors.open_to_all(response, request)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Pragma"] = "no-cache"
    return response
