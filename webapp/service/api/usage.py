"""The hourly usage of the projects that a client sees: actions run, requests proxied, events delivered (contract
"Usage"); and what happened in an environment, by app and day.
"""

from typing import Annotated

from flask import Response
from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from webapp.kit.clock import DAY, SECOND
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, AppName, Data, Query, Seconds
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import app_usage, usage

MAX_WINDOW_S = 366 * DAY // SECOND
operations = Operations(Group("Usage", "What was used, hour by hour."))


def _seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 11):
        raise ValueError("Use a Unix time in whole seconds.")
    return int(text)


UnixSeconds = Annotated[int, BeforeValidator(_seconds), WithJsonSchema({"type": "integer", "minimum": 0})]


class UsageWindow(Query):
    """From when until when, in Unix seconds; at most 366 days. Hours that it touches count whole."""

    start_ts: UnixSeconds = Field(description="The beginning of the time, in Unix seconds.")
    end_ts: UnixSeconds = Field(description="The end of the time, in Unix seconds.")

    @field_validator("end_ts")
    @classmethod
    def _check(cls, end_ts: int, info: ValidationInfo) -> int:
        start_ts = info.data.get("start_ts")
        if start_ts is not None and not 0 < end_ts - start_ts <= MAX_WINDOW_S:
            raise ValueError("It must lie after start_ts, by 366 days at most.")
        return end_ts


class AppUsageWindow(UsageWindow):
    """The same, perhaps of one app; days of UTC that it touches count whole."""

    app: AppName = None


class UsageHour(Answer):
    """The usage of one hour."""

    credits_used: int
    usage_start_ts: Seconds
    usage_end_ts: Seconds
    action_run_credits_used: int
    proxy_credits_used: int
    source_emit_credits_used: int


class Usage(Answer):
    """Usage, oldest hour first."""

    data: list[UsageHour]


class AppUsageDay(Answer):
    """What happened with one app on one day."""

    day: str = Field(description="The day, in UTC.", examples=["2026-11-28"])
    app: str | None = Field(
        description="The app's slug; null for what belongs to none, such as a schedule.", examples=["github"]
    )
    runs: int = Field(description="How many runs of actions began.")
    failed_runs: int = Field(description="How many of these runs failed.")
    events: int = Field(description="How many events triggers emitted.")
    failed_deliveries: int = Field(description="How many deliveries failed after their last attempt.")


@operations.get(
    "/v1/connect/usage",
    answer=Usage,
    scopes=(token_scopes.USAGE_READ,),
    connect=False,
    query=UsageWindow,
    example=Example(query={"start_ts": "$SINCE", "end_ts": "$UNTIL"}),
)
def list_usage(call: Call) -> Response:
    """The hours of the window in which something was used, oldest first."""
    query = call.query(UsageWindow)
    usage.flush(call.service)
    start, end = query.start_ts * SECOND, query.end_ts * SECOND
    return answer({"data": usage.hours(call.store, start, end, project_id=call.caller.project_id)})


@operations.get(
    "P/usage/apps",
    answer=Data[list[AppUsageDay]],
    scopes=(token_scopes.USAGE_READ,),
    connect=False,
    query=AppUsageWindow,
    example=Example(query={"start_ts": "$SINCE", "end_ts": "$UNTIL"}),
    extension=True,
)
def list_app_usage(call: Call) -> Response:
    """What happened in the environment, by app and day, oldest first. Days and apps without anything are left out."""
    query = call.query(AppUsageWindow)
    app = apps.slug_of(call.service, query.app) if query.app else None
    days = app_usage.days(call.store, call.scene, query.start_ts * SECOND, query.end_ts * SECOND, app=app)
    return answer({"data": [day.to_json() for day in days]})
