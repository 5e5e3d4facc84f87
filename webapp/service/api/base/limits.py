"""Which calls are limited (specification section 8, WIRE "Limits"), and what the answers to them say.

A call is counted once it is known who makes it and where, before what it asks is looked at. A custom limit is counted
first: a call that it stops takes nothing from the service's own.
"""

from typing import Any

from flask import Response

from webapp.errors import Invalid
from webapp.kit.secrets import hash_token
from webapp.service.api.base import bodies
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.domain.access import custom_limits, rate_limits
from webapp.service.domain.access.rate_limits import Limit, LimitState
from webapp.service.domain.base.service import Service

HEADER = "x-pd-rate-limit"
LIMIT_STATE = "patchbay.limit_state"
ACCOUNTS, TOOLS, EXECUTIONS, PROXY, TOKENS = "accounts", "tools", "executions", "proxy", "tokens"
LIMITS = {
    ACCOUNTS: Limit(2_000, 300),
    TOOLS: Limit(3_000, 300),
    EXECUTIONS: Limit(2_000, 300),
    PROXY: Limit(1_000, 300),
    TOKENS: Limit(100, 60),
}
_NOUNS = ("components", "actions", "triggers")
_KEPT = 10_000


def class_of(operation: Operation) -> str | None:
    """The name of the limit that ``operation`` counts towards; None for an unlimited one."""
    method, parts = operation.method, operation.path.split("/")
    if operation.path == "P/tokens":
        return TOKENS
    if parts[:2] == ["P", "proxy"]:
        return PROXY
    if "accounts" in parts and method in ("GET", "DELETE"):
        return ACCOUNTS
    if parts[0] == "P" and parts[1] in _NOUNS:
        if method == "GET":
            return TOOLS
        if method == "POST" and parts[2] in ("configure", "props", "run"):
            return EXECUTIONS
    return None


class Gate:
    """Counts the calls of one service."""

    def __init__(self, service: Service) -> None:
        """Raises :class:`webapp.settings.BadSetting` for a storage that cannot be used."""
        self._service = service
        self._limiter = rate_limits.opened(service.settings.limits_storage, service.clock)
        self._custom: dict[str, Limit] = {}

    def count(self, call: Call, operation: Operation, name: str | None) -> None:
        """Count ``call`` towards its limits; ``name`` is the :func:`class_of` its operation.

        Raises :class:`webapp.errors.Throttled`, and :class:`Invalid` for an unknown custom limit.
        """
        environ = call.request.environ
        given = environ.get("HTTP_X_PD_RATE_LIMIT")
        if given and operation.path.startswith(("P/", "/v1/connect/")):
            token_hash = hash_token(given)
            _note(environ, self._limiter.hit(self._custom_limit(token_hash), f"custom|{token_hash}"))
        key = _key(call, name) if name else None
        if name and key is not None:
            _note(environ, self._limiter.hit(LIMITS[name], key))

    def _custom_limit(self, token_hash: str) -> Limit:
        found = self._custom.get(token_hash) or custom_limits.find(self._service.store, token_hash)
        if found is None:
            raise Invalid(f"{HEADER} names no rate limit; create one with POST /v1/connect/rate_limits.")
        if len(self._custom) < _KEPT:
            self._custom[token_hash] = found
        return found


def show(answer: Response, environ: dict[str, Any]) -> None:
    """Put how the limits stand on ``answer``; nothing on one that counts towards none."""
    state: LimitState | None = environ.get(LIMIT_STATE)
    if state is not None and "X-RateLimit-Limit" not in answer.headers:
        answer.headers["X-RateLimit-Limit"] = str(state.limit)
        answer.headers["X-RateLimit-Remaining"] = str(state.remaining)
        answer.headers["X-RateLimit-Reset"] = str(state.reset_at)


def _note(environ: dict[str, Any], state: LimitState) -> None:
    """Of two limits the one with the fewest calls left is shown."""
    before: LimitState | None = environ.get(LIMIT_STATE)
    if before is None or state.remaining < before.remaining:
        environ[LIMIT_STATE] = state


def _key(call: Call, name: str) -> str | None:
    """What a call is counted under: its project and environment, and for a Connect token its external user.

    None when a token is asked for without saying for whom: such a call is refused before it costs anything.
    """
    place = f"{name}|{call.scene.project_id}|{call.scene.environment}"
    if name != TOKENS:
        return place
    user = bodies.read_json(call.request).get("external_user_id")
    return f"{place}|{hash_token(user)}" if isinstance(user, str) else None
