"""The state of an environment's rate limits, and the number of calls beyond them; asking is not counted.

The creation of tokens is counted for each external user, so it has no single window to show. Requests of people in the
dashboard and in portals are not counted here.
"""

from collections.abc import Sequence
from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp.audit import Actor
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Data, Seconds
from webapp.service.api.base.operations import Group, Operations
from webapp.service.domain.access import oauth_clients, refused_calls
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.rate_limits import LIMITS, LimitName, key_of
from webapp.service.domain.base.service import Service

operations = Operations(
    Group("Limits now", "How much of each rate limit is used up."),
    read=(token_scopes.PROJECTS_READ,),
    connect=False,
    extension=True,
)


class RefusedCaller(Answer):
    """Who made calls: an OAuth client, or an external user by a Connect token."""

    kind: Literal["client", "user", "person"]
    id: str = Field(examples=["oc_4Tf7Bn"])
    name: str = Field(description="What it is called in lists; of a user, your id.", examples=["Server"])


class Refusals(Answer):
    """The number of calls beyond a limit in the last hour, and their actor."""

    refused: int = Field(description="How many calls beyond the limit there were in the last hour.")
    refused_by: RefusedCaller | None = Field(description="Who made all of these; null where several did, or nobody.")


class LimitNow(Refusals):
    """The state of one rate limit in the current window."""

    name: Literal["tokens", "accounts", "tools", "executions", "proxy"]
    limit: int = Field(examples=[2000])
    window_seconds: int = Field(examples=[300])
    used: int | None = Field(description="Null where each external user has a window of their own.", examples=[118])
    reset_at: Seconds | None = Field(description="When the window ends; null likewise.")


def refusals(service: Service, counted_under: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The fields of :class:`Refusals`, for each of the limits that count under those keys."""
    refused = refused_calls.lately(service, counted_under)
    return {
        key: {"refused": calls.count, "refused_by": calls.actor and _caller(service, calls.actor)}
        for key, calls in refused.items()
    }


def _caller(service: Service, actor: Actor) -> dict[str, str]:
    client = oauth_clients.find(service, actor.id) if actor.kind == "client" else None
    return {"kind": actor.kind, "id": actor.id, "name": client.name if client else actor.id}


@operations.get("P/limits", answer=Data[list[LimitNow]])
def list_limits(call: Call) -> Response:
    """List the state of the limits on calls, and the number of calls beyond them in the last hour."""
    keys = {name: key_of(name, call.scene.project_id, call.scene.environment) for name in LIMITS}
    refused = refusals(call.service, list(keys.values()))
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
