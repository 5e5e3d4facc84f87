"""Custom rate limits (contract "Custom rate limits"): create one, and send its token in ``x-pd-rate-limit``.

The list is for whoever looks after them: it tells how each stands, and never a token.
"""

from typing import Annotated, Any

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso
from webapp.service.api.access import models, refusals
from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Body, Page, Paged
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.access import custom_limits
from webapp.service.domain.access.custom_limits import MAX_REQUESTS, MAX_WINDOW_S, CustomLimit
from webapp.service.domain.base import scopes
from webapp.service.domain.base.rate_limits import Limit

operations = Operations(Group("Rate limits", "Limits of your own, on top of the service's."))


class NewLimit(Body):
    """How many requests may pass in each window."""

    window_size_seconds: Annotated[int, Field(ge=1, le=MAX_WINDOW_S)] = Field(description="How long a window lasts.")
    requests_per_window: Annotated[int, Field(ge=1, le=MAX_REQUESTS)] = Field(
        description="How many requests may pass in each window."
    )


@operations.post(
    "/v1/connect/rate_limits",
    answer=models.LimitToken,
    scopes=(scopes.CONNECT,),
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
    answer=Page[models.CustomLimit],
    scopes=(scopes.CONNECT,),
    connect=False,
    query=Paged,
    extension=True,
    workspace=True,
    example=Example(query={"limit": "10"}),
)
def list_rate_limits(call: Call) -> Response:
    """Every custom rate limit, the newest first, and how it stands; never its token."""
    page = custom_limits.page(call.store, call.query(Paged).window)
    refused = refusals.to_json(call.service, [custom.key for custom in page.items])
    return answer_page(page, lambda custom: {**_to_json(call, custom), **refused[custom.key]})


def _to_json(call: Call, custom: CustomLimit) -> dict[str, Any]:
    state = call.service.limits.state(custom.limit, custom.key)
    return {
        "id": custom.id,
        "window_size_seconds": custom.limit.window_s,
        "requests_per_window": custom.limit.requests,
        "remaining": state.remaining,
        "reset_at": state.reset_at,
        "created_at": iso(custom.created_at),
    }
