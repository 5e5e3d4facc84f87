"""How the limits of an environment stand, for whoever watches them; nothing is counted by asking.

Creating tokens is counted for each external user, so that there is no one window to tell of. What people do in the
dashboard and in portals is not among it.
"""

from typing import Any

from flask import Response

from webapp.service.api.access import refusals
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Data
from webapp.service.api.base.operations import Group, Operations
from webapp.service.api.projects import models
from webapp.service.domain.base import scopes
from webapp.service.domain.base.rate_limits import LIMITS, LimitName, key_of

operations = Operations(
    Group("Limits now", "How much of each rate limit is used up."),
    read=(scopes.PROJECTS_READ,),
    connect=False,
    extension=True,
)


@operations.get("P/limits", answer=Data[list[models.LimitNow]])
def list_limits(call: Call) -> Response:
    """How the limits on calls stand, and how many calls beyond them there were in the last hour."""
    keys = {name: key_of(name, call.scene.project_id, call.scene.environment) for name in LIMITS}
    refused = refusals.to_json(call.service, list(keys.values()))
    return answer({"data": [{**_to_json(call, name, key), **refused[key]} for name, key in keys.items()]})


def _to_json(call: Call, name: LimitName, key: str) -> dict[str, Any]:
    limit = LIMITS[name]
    state = None if name == "tokens" else call.service.limits.state(limit, key)
    return {
        "name": name,
        "limit": limit.requests,
        "window_seconds": limit.window_s,
        "used": state and limit.requests - state.remaining,
        "reset_at": state and state.reset_at,
    }
