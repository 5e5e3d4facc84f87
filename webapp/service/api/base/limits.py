"""Counting calls towards the rate limits (specification section 8, WIRE "Limits"), and what the answers say of them.

Each operation names the limit that it counts towards. A call is counted once it is known who makes it and where,
before its parameters and body are looked at. A custom limit is counted first: a call that it stops takes nothing from
the service's own.
"""

from collections.abc import Mapping
from typing import Any

from flask import Response

from webapp.errors import Invalid
from webapp.kit.secrets import hash_token
from webapp.service.api.base.call import Call, read_json
from webapp.service.api.base.operations import LimitName, Operation
from webapp.service.domain.access import custom_limits, rate_limits
from webapp.service.domain.access.rate_limits import Limit, LimitState
from webapp.service.domain.base.service import Service

HEADER = "x-pd-rate-limit"
LIMIT_STATE = "patchbay.limit_state"
LIMITS: dict[LimitName, Limit] = {
    "accounts": Limit(2_000, 300),
    "tools": Limit(3_000, 300),
    "executions": Limit(2_000, 300),
    "proxy": Limit(1_000, 300),
    "tokens": Limit(100, 60),
}
_MAX_CUSTOM_LIMITS = 10_000  # kept in memory


class Gate:
    """Counts the calls of one service."""

    def __init__(self, service: Service) -> None:
        """Raises :class:`webapp.settings.BadSetting` for a storage that cannot be used."""
        self._service = service
        self._limiter = rate_limits.opened(service.settings.limits_storage, service.clock)
        self._custom: dict[str, Limit] = {}

    def count(self, call: Call, operation: Operation) -> None:
        """Count ``call`` of ``operation`` towards its limits.

        Raises :class:`webapp.errors.Throttled`, and :class:`Invalid` for an unknown custom limit.
        """
        environ = call.request.environ
        custom = environ.get("HTTP_X_PD_RATE_LIMIT")
        if custom and operation.path.startswith(("P/", "/v1/connect/")):
            token_hash = hash_token(custom)
            _note(environ, self._limiter.hit(self._custom_limit(token_hash), f"custom|{token_hash}"))
        if operation.limit is not None:
            key = _key(call, operation.limit)
            if key is not None:
                _note(environ, self._limiter.hit(LIMITS[operation.limit], key))

    def _custom_limit(self, token_hash: str) -> Limit:
        limit = self._custom.get(token_hash) or custom_limits.find(self._service.store, token_hash)
        if limit is None:
            raise Invalid(f"{HEADER} names no rate limit; create one with POST /v1/connect/rate_limits.")
        if len(self._custom) < _MAX_CUSTOM_LIMITS:
            self._custom[token_hash] = limit
        return limit


def show(answer: Response, environ: Mapping[str, Any]) -> None:
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


def _key(call: Call, name: LimitName) -> str | None:
    """What a call is counted under: its project and environment, and for a Connect token its external user.

    None when a token is asked for without saying for whom: such a call is refused before it costs anything.
    """
    place = f"{name}|{call.scene.project_id}|{call.scene.environment}"
    if name != "tokens":
        return place
    user = read_json(call.request).get("external_user_id")
    return f"{place}|{hash_token(user)}" if isinstance(user, str) else None
