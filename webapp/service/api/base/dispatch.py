"""Handles the request of any operation: authentication, permission, environment and limits, then the handler.

Every error becomes JSON here, so that ``/v1`` never answers with an HTML error page.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from flask import Response, request

from webapp import audit, body_limits
from webapp.kit import crypto
from webapp.kit.clock import SECOND
from webapp.service.api.base import call_limits, call_records, cors, problems
from webapp.service.api.base.call import Call, check_size_and_text
from webapp.service.api.base.call_limits import Gate
from webapp.service.api.base.models import unknown_to
from webapp.service.api.base.operations import Operation
from webapp.service.domain.access import callers
from webapp.service.domain.base.service import Service

_CALL = "patchbay.call"
IGNORED = "X-Ignored-Parameters"
View = Callable[..., Response]


def view_of(service: Service, operation: Operation, gate: Gate) -> View:
    """The Flask view of ``operation``, whose calls are counted at ``gate``."""

    def produce(path: Mapping[str, str]) -> Response:
        call = request.environ[_CALL] = _admitted(service, operation, path)
        if operation.public:
            return operation.handler(call)
        gate.count(call, operation)
        before = audit.ACTOR.set(call.caller.actor)
        try:
            return operation.handler(call)
        finally:
            audit.ACTOR.reset(before)

    def view(**path: str) -> Response:
        began = time.perf_counter()
        response = answered(service, path, lambda: produce(path))
        if (call := request.environ.get(_CALL)) is not None:
            call_records.note(call, operation, response, round((time.perf_counter() - began) * SECOND))
        if request.environ.get("QUERY_STRING") and not operation.proxied:
            _name_ignored(response, operation)
        return response

    return view


def answered(service: Service, path: Mapping[str, str], produce: Callable[[], Response]) -> Response:
    """The response of ``produce``, or the one for its error, with the headers of all responses."""
    request_id = crypto.request_id() or secrets.token_hex(8)
    try:
        response = produce()
    except Exception as error:
        response = problems.answer_error(error, request_id)
    headers = response.headers
    headers["X-Request-Id"] = request_id
    headers["Cache-Control"] = "no-store"
    call_limits.show(response, request.environ)
    headers["Vary"] = f"Origin, {headers['Vary']}" if "Vary" in headers else "Origin"
    origin = request.environ.get("HTTP_ORIGIN")
    if origin and "Access-Control-Allow-Origin" not in headers:
        _allow_origin(service, response, origin, path)
    return response


def bearer() -> str:
    """The token in ``Authorization: Bearer …``; "" without one."""
    kind, _, token = request.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _admitted(service: Service, operation: Operation, path: Mapping[str, str]) -> Call:
    """The call, once its caller is known and may make it. Raises what answers 400, 401, 403, 404 or 413 otherwise."""
    check_size_and_text(_request(), body_limits.UPLOAD if operation.upload else body_limits.REQUEST)
    if operation.public:
        return Call(service, _request(), path)
    caller = callers.authenticate(service, bearer())
    origin = request.environ.get("HTTP_ORIGIN")
    if origin and not cors.admits(service, origin, bearer()):
        raise cors.refuse(service, origin, bearer())
    if not operation.connect:
        caller.require_oauth()
    if not operation.user_key:
        caller.refuse_user_key()
    caller.require(*operation.scopes)
    if operation.workspace:
        caller.require_workspace()
    if not operation.in_project:
        return Call(service, _request(), path, caller)
    environment = request.environ.get("HTTP_X_PD_ENVIRONMENT")
    scene = callers.scene(service, caller, path.get("project_id"), environment)
    return Call(service, _request(), path, caller, scene)


def _allow_origin(service: Service, answer: Response, origin: str, path: Mapping[str, str]) -> None:
    """Let the calling page read ``answer`` if it may; if the store fails now, it may not."""
    try:
        refused = answer.status_code >= HTTPStatus.BAD_REQUEST
        if cors.knows(service, origin) if refused else cors.admits(service, origin, path.get("ctok") or bearer()):
            cors.open_to(answer, origin)
    except Exception as error:
        problems.log.error("The origin of a request could not be checked.", exc_info=error)


def _request() -> Any:
    """The request itself, rather than the proxy that looks it up on every access."""
    return request._get_current_object()  # type: ignore[attr-defined]  # werkzeug's LocalProxy, typed as the Request


def _name_ignored(response: Response, operation: Operation) -> None:
    """Name the parameters of the query that ``operation`` does not have, since a misspelt filter would have no
    effect.
    """
    try:
        names = list(request.args)
    except UnicodeDecodeError:
        return
    if ignored := unknown_to(operation.query, names):
        response.headers[IGNORED] = ignored
