"""Counts calls towards the rate limits, and shows in their answers what is left.

A call is counted once its caller and environment are known, before its parameters and body are checked. A custom limit
is counted first: a call that it stops does not count towards the service's own.
"""

from collections.abc import Mapping
from typing import Any

from flask import Response

from webapp import quotas
from webapp.errors import Invalid, Throttled
from webapp.kit import crypto
from webapp.kit.crypto import hash_token
from webapp.service.api.base.call import Call, read_json
from webapp.service.api.base.operations import HEADER, Operation
from webapp.service.domain.access import custom_limits, refused_calls
from webapp.service.domain.base.rate_limits import LIMITS, Limit, LimitName, LimitState, key_of
from webapp.service.domain.base.service import Service

_STATE = "patchbay.limit_state"
_MAX_CUSTOM_LIMITS = 10_000  # kept in memory
_OF_OUR_PAGES = "|dashboard|"  # part of the key under which calls of our own pages are counted


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
    before: LimitState | None = environ.get(_STATE)
    if before is None or state.remaining < before.remaining:
        environ[_STATE] = state


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


def show(answer: Response, environ: Mapping[str, Any]) -> None:
    """Add the state of the limit with the fewest calls left to ``answer``, if the call counts towards one."""
    state: LimitState | None = environ.get(_STATE)
    if state is not None and "X-RateLimit-Limit" not in answer.headers:
        answer.headers["X-RateLimit-Limit"] = str(state.limit)
        answer.headers["X-RateLimit-Remaining"] = str(state.remaining)
        answer.headers["X-RateLimit-Reset"] = str(state.reset_at)
