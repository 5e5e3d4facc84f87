"""What was used, hour by hour, over the API."""

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, object_of
from webapp.dashboard.client.models.lenient import Lenient
from webapp.errors import Forbidden, NotFound

_PATH = "/v1/connect/usage"


class UsageHour(Lenient):
    """One hour in which something was used; ``start`` in seconds of Unix time."""

    start: int = Field(default=0, alias="usage_start_ts")
    runs: int = Field(default=0, alias="action_run_credits_used")
    proxied: int = Field(default=0, alias="proxy_credits_used")
    events: int = Field(default=0, alias="source_emit_credits_used")


class _Usage(Lenient):
    hours: tuple[UsageHour, ...] = Field(default=(), alias="data")


def hours(client: ConnectClient, start: int, end: int) -> tuple[UsageHour, ...] | None:
    """``GET /v1/connect/usage`` between two times in seconds, oldest first; ``None`` where the service does not say."""
    try:
        answer = client.as_project("GET", _PATH, params={"start_ts": start, "end_ts": end})
    except (NotFound, Forbidden):
        return None
    return _Usage.model_validate(object_of(answer)).hours
