"""What the API answers about deployed triggers, their webhooks, events and runs."""

from typing import Any, Literal

from pydantic import Field

from webapp.service.api.base.models import Answer, Milliseconds, Seconds
from webapp.service.api.components.models import ConfigurableProp, Observation, Warned


class UsedAccount(Answer):
    """An account that a trigger works with."""

    prop: str
    id: str = Field(examples=["id_1Ab2Cd"])


class DeployedTrigger(Answer):
    """A deployed trigger. Fields below the key belong to one emitter alone, or are there with `extensions`."""

    id: str = Field(examples=["dc_6Gt1Nv"])
    owner_id: str = Field(examples=["exu_4Jr6Yh"])
    component_id: str = Field(examples=["sc_9Dk2Wx"])
    configurable_props: list[ConfigurableProp] = Field(examples=[[]])
    configured_props: dict[str, Any]
    active: bool
    created_at: Milliseconds
    updated_at: Milliseconds
    name: str = Field(examples=["New issue"])
    name_slug: str = Field(examples=["new-issue"])
    type: Literal["DeployedComponent", "HttpInterface", "TimerInterface"]
    component_key: str = Field(examples=["github-new-issue"])
    callback_observations: None
    emit_on_deploy: bool
    webhook_signing_key: str = Field("", description="Absent where it is not shown, or there is none.")
    endpoint_url: str = ""
    custom_response: bool = False
    key: str = ""
    interval_seconds: int | None = None
    cron: str | None = None
    timezone: str = ""
    schedule_changed_at: Milliseconds | None = None
    email_address: str = ""
    version: str = ""
    available: bool = Field(True, description="False where that version of it was removed from this installation.")
    newest_version: str | None = Field(None, description="A later version; the newest where its own is gone.")
    app: str | None = None
    external_user_id: str = ""
    emitter_type: str = ""
    switched_off: str | None = None
    last_event_at: Milliseconds | None = None
    last_run_at: Milliseconds | None = None
    next_run_at: Milliseconds | None = None
    schedule: dict[str, Any] | None = None
    instant: bool = False
    told: bool = Field(False, description="Whether its app tells it of news at the moment; it then looks at once.")
    told_error: str | None = Field(None, description="Why its app does not, where it should.")
    accounts: list[UsedAccount] = Field(default_factory=list)
    waits: str | None = Field(None, description="Why it stands still by itself, until that is mended.")
    last_error: str | None = None


class ConfiguredTrigger(Warned):
    """A deployed trigger, after its values were set."""

    data: DeployedTrigger


class DeliveryState(Answer):
    """How an address takes what it is sent."""

    state: Literal["happy", "penalty", "deactivated"]
    since: Seconds
    last_error: str | None = Field(examples=[None])
    consecutive_failures: int
    sheds: int


class Webhook(Answer):
    """Where a trigger's events go. `signing_key` is given to OAuth clients alone."""

    id: str = Field(examples=["wh_2Sd7Kj"])
    url: str = Field(examples=["https://app.example.com/events"])
    signing_key_set: bool
    signing_key: str = ""
    active: bool
    delivery_state: DeliveryState


class WebhookDetails(Webhook):
    """A trigger's webhook, shown alone."""

    created_at: Seconds
    updated_at: Seconds


class Webhooks(Answer):
    """All webhooks of a trigger."""

    webhook_urls: list[str] = Field(examples=[["https://app.example.com/events"]])
    webhooks: list[Webhook]


class Workflow(Answer):
    """A workflow that a trigger's events go to."""

    id: str = Field(examples=["id_1Ab2Cd"])
    name: str | None = Field(examples=["GitHub"])
    active: bool
    delivery_state: DeliveryState


class Pipelines(Answer):
    """The workflows that a trigger's events go to; `workflows` is there when `extensions` were asked for."""

    workflow_ids: list[str] = Field(examples=[["p_2Vc9Lk"]])
    workflows: list[Workflow] = Field(default_factory=list)


class Event(Answer):
    """An event, exactly as it was emitted."""

    e: Any = Field(examples=[{"number": 42, "title": "It works"}])
    k: str = Field(examples=["emit"])
    ts: Milliseconds
    id: str = Field(examples=["evt_0Bz4Qr"])
    sum: str = ""


class EventCount(Answer):
    """How many events were listed, and how many there are."""

    count: int = Field(examples=[1])
    total_count: int = Field(examples=[1])


class Events(Answer):
    """Events, newest first; `page_info` is there when `extensions` were asked for."""

    data: list[Event]
    page_info: EventCount | None = None


class LogEntry(Answer):
    """One run of a trigger."""

    id: str = Field(examples=["tr_2Hy5Cw"])
    at: Milliseconds
    cause: str = Field(examples=["timer"])
    took_ms: int
    emitted: int
    error: str | None = Field(examples=[None])
    ok: bool
    os: list[Observation] = Field(examples=[[]])
