"""What was used, hour by hour, and what happened by app and day, over the API."""

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


class AppDay(Lenient):
    """What happened with one app on one day of UTC, such as ``2026-11-28``; ``app`` is "" for what belongs to none."""

    day: str = ""
    app: str = ""
    runs: int = 0
    failed_runs: int = 0
    events: int = 0
    failed_deliveries: int = 0


class _AppDays(Lenient):
    days: tuple[AppDay, ...] = Field(default=(), alias="data")


class _Usage(Lenient):
    hours: tuple[UsageHour, ...] = Field(default=(), alias="data")


def hours(client: ConnectClient, start: int, end: int) -> tuple[UsageHour, ...] | None:
    """``GET /v1/connect/usage`` between two times in seconds, oldest first; ``None`` where the service does not say."""
    try:
        answer = client.as_project("GET", _PATH, params={"start_ts": start, "end_ts": end})
    except (NotFound, Forbidden):
        return None
    return _Usage.model_validate(object_of(answer)).hours


def by_app(client: ConnectClient, start: int, end: int) -> tuple[AppDay, ...] | None:
    """``GET P/usage/apps`` (an extension) between two times in seconds, oldest first; ``None`` where there is none."""
    try:
        answer = client.as_project("GET", client.path("usage", "apps"), params={"start_ts": start, "end_ts": end})
    except (NotFound, Forbidden):
        return None
    return _AppDays.model_validate(object_of(answer)).days
