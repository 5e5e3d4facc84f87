"""Custom rate limits (contract "Custom rate limits"): create one, and send its token in ``x-pd-rate-limit``.

The list is for administrators of the workspace: it shows the state of each, and never a token.
"""

from typing import Annotated, Any

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso
from webapp.service.api import limits
from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Answer, Body, DateTime, Page, Paged, Seconds
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.api.limits import Refusals
from webapp.service.domain.access import custom_limits
from webapp.service.domain.access.custom_limits import MAX_REQUESTS, MAX_WINDOW_S
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.rate_limits import Limit

operations = Operations(Group("Rate limits", "Limits of your own, on top of the service's."))


class NewLimit(Body):
    """The number of requests in each window."""

    window_size_seconds: Annotated[int, Field(ge=1, le=MAX_WINDOW_S)] = Field(description="How long a window lasts.")
    requests_per_window: Annotated[int, Field(ge=1, le=MAX_REQUESTS)] = Field(
        description="How many requests may pass in each window."
    )


class CustomLimit(Refusals):
    """A custom rate limit, without its token."""

    id: str = Field(examples=["3b7cf09a51e2"])
    window_size_seconds: int = Field(examples=[60])
    requests_per_window: int = Field(examples=[100])
    remaining: int = Field(description="How many requests may pass in the window that is open now.", examples=[97])
    reset_at: Seconds = Field(description="When that window ends.")
    created_at: DateTime


class LimitToken(Answer):
    """The token of a custom rate limit, for the header `x-pd-rate-limit`."""

    token: str = Field(examples=["rl_Xk4Tq8…"])


@operations.post(
    "/v1/connect/rate_limits",
    answer=LimitToken,
    scopes=(token_scopes.CONNECT,),
    connect=False,
    body=NewLimit,
    example=Example(body={"window_size_seconds": 60, "requests_per_window": 100}),
)
def create_rate_limit(call: Call) -> Response:
    """Make a custom rate limit."""
    body = call.body(NewLimit)
    limit = Limit(body.requests_per_window, body.window_size_seconds)
    return answer({"token": custom_limits.create(call.service, limit)})


@operations.get(
    "/v1/connect/rate_limits",
    answer=Page[CustomLimit],
    scopes=(token_scopes.CONNECT,),
    connect=False,
    query=Paged,
    extension=True,
    workspace=True,
    example=Example(query={"limit": "10"}),
)
def list_rate_limits(call: Call) -> Response:
    """List all custom rate limits with their states, the newest first; never a token."""
    page = custom_limits.page(call.store, call.query(Paged).window)
    refused = limits.refusals(call.service, [custom.key for custom in page.items])
    return answer_page(page, lambda custom: {**_to_json(call, custom), **refused[custom.key]})


def _to_json(call: Call, custom: custom_limits.CustomLimit) -> dict[str, Any]:
    state = call.service.limits.state(custom.limit, custom.key)
    return {
        "id": custom.id,
        "window_size_seconds": custom.limit.window_s,
        "requests_per_window": custom.limit.requests,
        "remaining": state.remaining,
        "reset_at": state.reset_at,
        "created_at": iso(custom.created_at),
    }
