"""Handles the request of any operation: authentication, permission, environment and limits, then the handler.

A call is counted once its caller and environment are known, before its parameters and body are checked. A custom limit
is counted first: a call that it stops does not count towards the service's own. Every error becomes JSON here, so that
``/v1`` never answers with an HTML error page.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, request

from webapp import audit, body_limits, quotas
from webapp.errors import Invalid, Throttled
from webapp.kit import crypto
from webapp.kit.clock import SECOND
from webapp.kit.crypto import hash_token
from webapp.service.api.base import call_records, cors, problems
from webapp.service.api.base.call import Call, check_size_and_text, read_json
from webapp.service.api.base.models import unknown_to
from webapp.service.api.base.operations import HEADER, Operation
from webapp.service.domain.access import callers, custom_limits, refused_calls
from webapp.service.domain.base.rate_limits import LIMITS, Limit, LimitName, LimitState, key_of
from webapp.service.domain.base.service import Service

LIMIT_STATE = "patchbay.limit_state"
_CALL = "patchbay.call"
IGNORED = "X-Ignored-Parameters"
_MAX_CUSTOM_LIMITS = 10_000  # kept in memory
_OF_OUR_PAGES = "|dashboard|"  # part of the key under which calls of our own pages are counted
View = Callable[..., Response]


def view_of(service: Service, operation: Operation, gate: "Gate") -> View:
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
    _show_limits(response, request.environ)
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
        if cors.admits(service, origin, path.get("ctok") or bearer()):
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


def _show_limits(answer: Response, environ: Mapping[str, Any]) -> None:
    """Add the state of the limits to ``answer``, if the call counts towards one."""
    state: LimitState | None = environ.get(LIMIT_STATE)
    if state is not None and "X-RateLimit-Limit" not in answer.headers:
        answer.headers["X-RateLimit-Limit"] = str(state.limit)
        answer.headers["X-RateLimit-Remaining"] = str(state.remaining)
        answer.headers["X-RateLimit-Reset"] = str(state.reset_at)


class Gate:
    """Counts the calls of one service."""

    def __init__(self, service: Service) -> None:
        """Raises :class:`webapp.settings.BadSetting` for a storage that cannot be used."""
        self._service = service
        service.limits.open()
        self._custom: dict[str, Limit] = {}

    def count(self, call: Call, operation: Operation, external_id: str | None = None) -> None:
        """Count ``call`` of ``operation`` towards its limits. ``external_id`` is its user if neither token nor body
        name one.

        Raises :class:`webapp.errors.Throttled`, and :class:`Invalid` for an unknown custom limit.
        """
        environ = call.request.environ
        custom = environ.get("HTTP_X_PD_RATE_LIMIT")
        key: str | None = None
        try:
            if custom and operation.path.startswith(("P/", "/v1/connect/")):
                token_hash = hash_token(custom)
                key = custom_limits.key_of(token_hash)
                _note(environ, self._service.limits.hit(self._custom_limit(token_hash), key))
            if operation.limit is not None and (key := _key(call, operation.limit)) is not None:
                _note(environ, self._service.limits.hit(LIMITS[operation.limit], key))
        except Throttled:
            if key is not None and _OF_OUR_PAGES not in key:
                refused_calls.note(self._service, "|".join(key.split("|")[:3]), call.caller.actor)
            raise
        if operation.limit == "executions":
            self._count_runs(call, external_id)

    def _count_runs(self, call: Call, external_id: str | None) -> None:
        """Count a call of a component for its project and environment, and for the user whom it names.

        These quotas count the dashboard's calls too, and are larger than what the contract promises to the product.
        """
        user = call.user.external_id if call.user else external_id or read_json(call.request).get("external_user_id")
        if isinstance(user, str):
            self._service.count(quotas.USER_RUNS, f"{call.scene}|{hash_token(user)}")
        self._service.count(quotas.PROJECT_RUNS, str(call.scene))

    def _custom_limit(self, token_hash: str) -> Limit:
        limit = self._custom.get(token_hash) or custom_limits.find(self._service.store, token_hash)
        if limit is None:
            raise Invalid(f"{HEADER} names no rate limit; create one with POST /v1/connect/rate_limits.")
        if len(self._custom) < _MAX_CUSTOM_LIMITS:
            self._custom[token_hash] = limit
        return limit


def _note(environ: dict[str, Any], state: LimitState) -> None:
    """Keep the limit with the fewest calls left for the response's headers."""
    before: LimitState | None = environ.get(LIMIT_STATE)
    if before is None or state.remaining < before.remaining:
        environ[LIMIT_STATE] = state


def _key(call: Call, name: LimitName) -> str | None:
    """The key under which a call is counted: its project and environment.

    Creating tokens is counted for each external user, as are requests of our own pages, which do not count towards the
    product's. None for a token of an unnamed user.
    """
    key = key_of(name, call.scene.project_id, call.scene.environment)
    if name == "tokens":
        user = read_json(call.request).get("external_user_id")
        return f"{key}|{hash_token(user)}" if isinstance(user, str) else None
    if not call.caller.is_dashboard and crypto.REQUEST_ENVIRON not in call.request.environ:
        return key
    return f"{key}{_OF_OUR_PAGES}{call.user and hash_token(call.user.external_id)}"
