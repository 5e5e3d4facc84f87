"""Deployed triggers, their webhooks, events and deliveries."""

from typing import Annotated, Any, Literal

from pydantic import Field

from webapp.service.api.base.models import Milliseconds, Seconds, Shape
from webapp.service.api.components.models import ConfigurableProp, Observation

Status = Literal["waiting", "delivered", "failed"]


class UsedAccount(Shape):
    """An account that a trigger works with."""

    prop: str
    id: str


class DeployedTrigger(Shape):
    """A deployed trigger. Fields below the key belong to one emitter alone, or are there with `extensions`."""

    id: str
    owner_id: str
    component_id: str
    configurable_props: list[ConfigurableProp]
    configured_props: dict[str, Any]
    active: bool
    created_at: Milliseconds
    updated_at: Milliseconds
    name: str
    name_slug: str
    type: Literal["DeployedComponent", "HttpInterface", "TimerInterface", "EmailInterface"]
    component_key: str
    callback_observations: None
    emit_on_deploy: bool
    webhook_signing_key: Annotated[str, Field(description="Empty where it is not shown.")]
    endpoint_url: str = ""
    custom_response: bool = False
    key: str = ""
    interval_seconds: int | None = None
    cron: str | None = None
    timezone: str = ""
    schedule_changed_at: Milliseconds | None = None
    email_address: str = ""
    version: str = ""
    app: str | None = None
    external_user_id: str = ""
    emitter_type: str = ""
    switched_off: str | None = None
    last_event_at: Milliseconds | None = None
    last_run_at: Milliseconds | None = None
    next_run_at: Milliseconds | None = None
    schedule: dict[str, Any] | None = None
    instant: bool = False
    accounts: list[UsedAccount] = Field(default_factory=list)
    waits: str | None = None
    last_error: str | None = None


class DeliveryState(Shape):
    """How an address takes what it is sent."""

    state: Literal["happy", "penalty", "deactivated"]
    since: Seconds
    last_error: str | None
    consecutive_failures: int
    sheds: int


class Webhook(Shape):
    """Where a trigger's events go. `signing_key` is given to OAuth clients alone."""

    id: str
    url: str
    signing_key_set: bool
    signing_key: str = ""
    active: bool
    delivery_state: DeliveryState


class OneWebhook(Webhook):
    """A trigger's webhook, shown alone."""

    created_at: Seconds
    updated_at: Seconds


class Webhooks(Shape):
    """All webhooks of a trigger."""

    webhook_urls: list[str]
    webhooks: list[Webhook]


class Workflow(Shape):
    """A workflow that a trigger's events go to."""

    id: str
    name: str | None
    active: bool
    delivery_state: DeliveryState


class Pipelines(Shape):
    """The workflows that a trigger's events go to; `workflows` is there when `extensions` were asked for."""

    workflow_ids: list[str]
    workflows: list[Workflow] = Field(default_factory=list)


class Event(Shape):
    """An event, exactly as it was emitted."""

    e: Any
    k: str
    ts: Milliseconds
    id: str
    sum: str = ""


class EventCount(Shape):
    """How many events were listed, and how many there are."""

    count: int
    total_count: int


class Events(Shape):
    """Events, newest first; `page_info` is there when `extensions` were asked for."""

    data: list[Event]
    page_info: EventCount | None = None


class LogEntry(Shape):
    """One run of a trigger."""

    id: str
    at: Milliseconds
    cause: str
    took_ms: int
    emitted: int
    error: str | None
    ok: bool
    os: list[Observation]


class Delivery(Shape):
    """An event on its way to one address."""

    id: str
    event_id: str
    webhook_id: str | None
    url: str | None
    status: Status
    attempt: int
    created_at: Milliseconds
    next_attempt_at: Milliseconds | None
    last_attempt_at: Milliseconds | None
    response_status: int | None
    error: str | None
    took_ms: int | None
    summary: str | None


class SentRequest(Shape):
    """The request as the last attempt sent it."""

    url: str | None
    headers: dict[str, str]
    body: str


class Attempt(Shape):
    """One attempt at a delivery, with what was answered."""

    n: int
    at: Milliseconds
    took_ms: int | None
    response_status: int | None
    error: str | None
    response_headers: Any
    response_body: str | None


class DeliveryDetails(Delivery):
    """A delivery with its request and every attempt."""

    request: SentRequest
    attempts: list[Attempt]


class Count(Shape):
    """How many deliveries are sent again, or would be."""

    count: int


class Hour(Shape):
    """What became of the deliveries of one hour."""

    start: Milliseconds
    waiting: int
    delivered: int
    failed: int


class Stats(Shape):
    """The last 24 hours."""

    hours: list[Hour]
    waiting: int
    delivered: int
    failed: int
    events: int
    last_event_at: Milliseconds | None
    last_error: str | None


class ProjectWebhook(Shape):
    """The webhook of a project's environment. `signing_key` is shown when it is made or regenerated."""

    id: str = ""
    url: str = ""
    signing_key_set: bool
    created_at: Seconds = 0
    updated_at: Seconds = 0
    signing_key: Annotated[str, Field(description="Shown once.")] = ""


class GeneralWebhook(Shape):
    """A webhook of the workspace."""

    id: str
    user_id: str
    name: str | None
    description: str | None
    url: str
    active: bool
    created_at: Seconds
    updated_at: Seconds
