"""From a request to an answer, the same way for every operation: who calls, may they, where; then the handler.

Everything that can go wrong below ends here as JSON, so that no HTML error page ever answers under ``/v1``.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, request

from webapp import audit
from webapp.errors import Invalid, TooLarge
from webapp.kit import request_ids
from webapp.service.api.base import cors, limits, problems
from webapp.service.api.base.call import MAX_BODY_BYTES, Call
from webapp.service.api.base.limits import Gate
from webapp.service.api.base.operations import Operation
from webapp.service.domain.access import callers
from webapp.service.domain.base.service import Service

View = Callable[..., Response]


def view_of(service: Service, operation: Operation, gate: Gate) -> View:
    """The Flask view of ``operation``, whose calls are counted at ``gate``."""

    def produce(path: Mapping[str, str]) -> Response:
        call = _admitted(service, operation, path)
        if operation.public:
            return operation.handler(call)
        gate.count(call, operation)
        with audit.acting(call.caller.actor):
            return operation.handler(call)

    def view(**path: str) -> Response:
        return answered(service, path, lambda: produce(path))

    return view


def answered(service: Service, path: Mapping[str, str], produce: Callable[[], Response]) -> Response:
    """What ``produce`` answers, or the answer its error deserves, with the headers that all answers carry."""
    request_id = request_ids.current() or secrets.token_hex(8)
    try:
        answer = produce()
    except Exception as error:
        answer = problems.answer(error, request_id)
    headers = answer.headers
    headers["X-Request-Id"] = request_id
    headers["Cache-Control"] = "no-store"
    limits.show(answer, request.environ)
    headers["Vary"] = f"Origin, {headers['Vary']}" if "Vary" in headers else "Origin"
    origin = request.environ.get("HTTP_ORIGIN")
    if origin and "Access-Control-Allow-Origin" not in headers:
        _open(service, answer, origin, path)
    return answer


def bearer() -> str:
    """The token in ``Authorization: Bearer …``; "" without one."""
    kind, _, token = request.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _admitted(service: Service, operation: Operation, path: Mapping[str, str]) -> Call:
    """The call, once its caller is known and may make it. Raises what ``WIRE`` "Errors" answers otherwise."""
    _check_size_and_text()
    if operation.public:
        return Call(service, _request(), path)
    caller = callers.authenticate(service, bearer())
    origin = request.environ.get("HTTP_ORIGIN")
    if origin and not cors.admits(service, origin, bearer()):
        raise cors.refuse(origin)
    if not operation.connect:
        caller.require_oauth()
    if not operation.user_key:
        caller.refuse_user_key()
    caller.require(*operation.scopes)
    if not operation.in_project:
        return Call(service, _request(), path, caller)
    environment = request.environ.get("HTTP_X_PD_ENVIRONMENT")
    scene = callers.scene(service, caller, path.get("project_id"), environment)
    return Call(service, _request(), path, caller, scene)


def _check_size_and_text() -> None:
    environ = request.environ
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise TooLarge
    if "\0" in environ.get("PATH_INFO", "") or "%00" in environ.get("QUERY_STRING", ""):
        raise Invalid("The address holds a NUL character; leave it out.")


def _open(service: Service, answer: Response, origin: str, path: Mapping[str, str]) -> None:
    """Let the calling page read ``answer``, where it may; a store that fails now leaves the answer closed."""
    try:
        if cors.admits(service, origin, path.get("ctok") or bearer()):
            cors.open_to(answer, origin)
    except Exception as error:
        problems.log.error("The origin of a request could not be checked.", exc_info=error)


def _request() -> Any:
    """The request itself, rather than the proxy that looks it up on every access."""
    return request._get_current_object()  # type: ignore[attr-defined]  # werkzeug's LocalProxy, typed as the Request
