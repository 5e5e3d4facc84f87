"""Adds ``/mcp`` to the web application: the same actions for agents (contract "Agents").

As under ``/v1``, only bearer tokens are accepted, never a cookie; :mod:`authentication` says which pages may call.
"""

from flask import Blueprint, Flask, Response, request

from webapp.service.api.base import cors, dispatch
from webapp.service.api.base.call import answer
from webapp.service.api.base.problems import NoSuchMethod
from webapp.service.domain.base.service import Service
from webapp.service.mcp import authentication, clients
from webapp.service.mcp.endpoint import Endpoint

_HEADERS = (
    clients.REVISION_HEADER,
    clients.METHOD_HEADER,
    clients.NAME_HEADER,
    clients.SESSION_HEADER,
    *authentication.HEADERS,
)


def register(app: Flask, service: Service) -> None:
    """Serve agents from ``app``."""
    blueprint, endpoint = Blueprint("mcp", __name__), Endpoint(service)

    def talk() -> Response:
        return dispatch.answered(service, {}, lambda: _answer(service, endpoint))

    def show_resource() -> Response:
        return dispatch.answered(service, {}, lambda: _resource(service))

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    blueprint.add_url_rule(authentication.PATH, "talk", talk, methods=methods, provide_automatic_options=False)
    for path in (authentication.WELL_KNOWN, f"{authentication.WELL_KNOWN}{authentication.PATH}"):
        blueprint.add_url_rule(
            path, "show_resource", show_resource, methods=["GET", "OPTIONS"], provide_automatic_options=False
        )
    app.register_blueprint(blueprint)


def _resource(service: Service) -> Response:
    message = request._get_current_object()  # type: ignore[attr-defined]  # werkzeug's LocalProxy
    if cors.is_preflight(message):
        return cors.preflight_of_all(message, clients.REVISION_HEADER)
    response = answer(authentication.resource(service))
    cors.open_to_all(response, message)
    return response


def _answer(service: Service, endpoint: Endpoint) -> Response:
    message = request._get_current_object()  # type: ignore[attr-defined]  # werkzeug's LocalProxy
    if cors.is_preflight(message):
        return cors.preflight_of_all(message, *_HEADERS)
    if message.method != "POST":
        raise NoSuchMethod("POST")
    response = endpoint.answer(message)
    if origin := message.headers.get("Origin"):
        authentication.open_to(service, response, origin, dispatch.bearer())
    return response
