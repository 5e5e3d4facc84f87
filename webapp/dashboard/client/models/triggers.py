"""Deployed triggers, their events and runs, as the Connect API tells them (contract "Deployed triggers").

Times are integer epoch milliseconds.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from webapp.dashboard.client.models import components
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.client.models.deliveries import Day, EndpointWithStatistics, Workflow
from webapp.dashboard.client.models.lenient import Json, Lenient, NonEmpty
from webapp.dashboard.client.models.logs import LogPage
from webapp.kit.translation import gettext, translated

State = Literal["active", "waits", "no-app", "off", "paused"]
_EMITTERS: Mapping[str, str] = {"hi": "http", "ti": "timer", "ei": "email"}


def _name(data: dict[str, Any]) -> str:
    return str(data["component_key"] or data["id"])


def _emitter(data: dict[str, Any]) -> str:
    return _EMITTERS.get(data["id"].partition("_")[0], "source")


class _AccountReference(Lenient):
    id: str = ""


class Trigger(Lenient):
    """A deployed trigger of section 2.7, with the embedded service's additions."""

    id: str = ""
    component_key: str = ""
    name: NonEmpty = Field(default_factory=_name)
    version: str = ""
    available: bool = True
    newest_version: str = ""
    app: str = ""
    emitter: NonEmpty = Field(default_factory=_emitter, alias="emitter_type")
    active: bool = True
    switched_off: str = ""
    waits: str = ""
    last_error: str = ""
    last_event_at: int | None = None
    next_run_at: int | None = None
    schedule_given: dict[str, Any] | None = Field(default=None, alias="schedule")
    cron: str = ""
    timezone: NonEmpty = "UTC"
    interval_seconds: int | None = None
    instant: bool = False
    notified: bool = False
    notification_error: str = ""
    account_references: tuple[_AccountReference, ...] = Field(default=(), alias="accounts")
    configurable_props: tuple[dict[str, Any], ...] = ()
    configured: dict[str, Any] = Field(default={}, alias="configured_props")
    emit_on_deploy: bool = True
    created_at: int | None = None
    updated_at: int | None = None
    endpoint_url: str = ""
    email_address: str = ""
    signing_key: str = Field(default="", alias="webhook_signing_key")

    @property
    def title(self) -> str:
        """Its name, which is its component's, in the reader's language, until a person chooses another."""
        return translated(self.name)

    @property
    def accounts(self) -> tuple[str, ...]:
        """The ids of the accounts that it works with."""
        return tuple(reference.id for reference in self.account_references)

    @cached_property
    def props(self) -> tuple[Prop, ...]:
        """The props of its component, as it was deployed."""
        return components.props(self.configurable_props)

    @property
    def schedule(self) -> Json | None:
        """The schedule: from the service, otherwise from a timer's own fields."""
        if self.schedule_given is not None:
            return self.schedule_given
        if self.cron:
            return {"cron": self.cron, "timezone": self.timezone}
        return {"intervalSeconds": self.interval_seconds} if self.interval_seconds else None

    @property
    def state(self) -> State:
        """Active, waiting for its account or for its app, switched off by the system, or paused by a person."""
        if self.switched_off:
            return "off"
        if not self.active:
            return "paused"
        if not self.available:
            return "no-app"
        return "waits" if self.waits else "active"

    @property
    def manner(self) -> str:
        """How it learns of news, in a word."""
        words = {"http": gettext("request"), "timer": gettext("schedule"), "email": gettext("e-mail")}
        return words.get(self.emitter) or (gettext("instant") if self.instant or self.notified else gettext("polling"))


class Event(Lenient):
    """One event, newest first in lists: ``{e, k, ts, id, sum?}``."""

    id: str = ""
    at: int | None = Field(default=None, alias="ts")
    summary: str = Field(default="", alias="sum")
    body: Any = Field(default=None, alias="e")


class TriggerView(Lenient):
    """A trigger with what stands around it on its page, and the newest of its logs if they were asked for."""

    trigger: Trigger = Field(default_factory=Trigger)
    webhooks: tuple[EndpointWithStatistics, ...] = ()
    workflows: tuple[Workflow, ...] = ()
    stats: Day | None = None
    logs: LogPage | None = None
