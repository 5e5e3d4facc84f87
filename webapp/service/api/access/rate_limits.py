"""Custom rate limits (contract "Custom rate limits"): create one, and send its token in ``x-pd-rate-limit``."""

from typing import Annotated

from flask import Response
from pydantic import Field

from webapp.service.api.access import models
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.access import custom_limits
from webapp.service.domain.access.custom_limits import MAX_REQUESTS, MAX_WINDOW_S
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
