"""Custom rate limits (specification 4.15): create one, and send its token in ``x-pd-rate-limit``."""

from typing import Annotated

from flask import Response
from pydantic import Field

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body
from webapp.service.domain.access import custom_limits
from webapp.service.domain.access.custom_limits import MAX_REQUESTS, MAX_WINDOW_S
from webapp.service.domain.access.rate_limits import Limit
from webapp.service.domain.base import scopes


class NewLimit(Body):
    """How many requests may pass in each window."""

    window_size_seconds: Annotated[int, Field(ge=1, le=MAX_WINDOW_S)]
    requests_per_window: Annotated[int, Field(ge=1, le=MAX_REQUESTS)]


def create(call: Call) -> Response:
    """Make a custom rate limit."""
    body = call.body(NewLimit)
    limit = Limit(body.requests_per_window, body.window_size_seconds)
    return answers.json({"token": custom_limits.create(call.service, limit)})


OPERATIONS = (
    Operation(
        "create_rate_limit", "POST", "/v1/connect/rate_limits", create, (scopes.CONNECT,), connect=False, body=NewLimit
    ),
)
