"""Deployed triggers, their events and deliveries, as the Connect API tells them (specification 2.7, 2.8; WIRE).

Reading is lenient like in :mod:`.accounts`. Times are integer epoch milliseconds, on the wire too but for those of
webhooks, which are seconds there; what our service alone tells is optional.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from webapp.dashboard.client.models import reading
from webapp.dashboard.client.models.reading import Json
from webapp.kit.clock import SECOND
from webapp.kit.translation import gettext

State = Literal["active", "waits", "off", "paused"]
_EMITTERS: Mapping[str, str] = {"hi": "http", "ti": "timer", "ei": "email"}


@dataclass(frozen=True, slots=True)
class Trigger:
    """Something that watches for its owner. ``props`` is the wire's list of configurable props, for editing."""

    id: str
    name: str
    component_key: str
    version: str
    app: str
    emitter: str
    active: bool
    switched_off: str
    waits: str
    last_error: str
    last_event_at: int | None
    next_run_at: int | None
    schedule: Json | None
    instant: bool
    accounts: tuple[str, ...]
    props: tuple[Json, ...]
    configured: Json
    emit_on_deploy: bool
    created_at: int | None
    updated_at: int | None
    endpoint_url: str
    email_address: str
    signing_key: str

    @property
    def state(self) -> State:
        """Active, waiting for its account, switched off by the system, or paused by a person."""
        if self.switched_off:
            return "off"
        if not self.active:
            return "paused"
        return "waits" if self.waits else "active"

    @property
    def manner(self) -> str:
        """How it learns of news, in a word."""
        words = {"http": gettext("request"), "timer": gettext("schedule"), "email": gettext("e-mail")}
        return words.get(self.emitter) or (gettext("instant") if self.instant else gettext("polling"))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A webhook URL of a trigger; ``state`` is ``happy``, ``penalty`` or ``deactivated``.

    One whose last delivery failed counts as in penalty from the first failure on: a person should see it at once.
    """

    id: str
    url: str
    key: str
    state: str
    since: int | None
    last_error: str

    @property
    def failing(self) -> bool:
        """Whether a person should know."""
        return self.state != "happy"

    @property
    def host(self) -> str:
        """Where it is, in short."""
        return self.url.split("/")[2] if "//" in self.url else self.url


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow of the product that is told of a trigger's events. Its ``state`` is as an endpoint's, or ""."""

    id: str
    name: str
    state: str = ""

    @property
    def failing(self) -> bool:
        """Whether a person should know."""
        return self.state not in ("", "happy")


@dataclass(frozen=True, slots=True)
class Event:
    """One event, newest first in lists."""

    id: str
    at: int | None
    summary: str
    body: Any


@dataclass(frozen=True, slots=True)
class Watch:
    """One run of a trigger, with its log."""

    id: str
    at: int | None
    cause: str
    ok: bool
    took_ms: int | None
    emitted: int
    error: str
    lines: Any


def trigger(data: Json) -> Trigger:
    """A deployed trigger of section 2.7, with the embedded service's additions."""
    listed = data.get("accounts")
    accounts = (
        tuple(reading.text(item, "id") for item in listed if isinstance(item, dict)) if isinstance(listed, list) else ()
    )
    configured = data.get("configured_props")
    key, identity = reading.text(data, "component_key"), reading.text(data, "id")
    return Trigger(
        id=identity,
        name=reading.text(data, "name") or key or identity,
        component_key=key,
        version=reading.text(data, "version"),
        app=reading.text(data, "app"),
        emitter=reading.text(data, "emitter_type") or _EMITTERS.get(identity.partition("_")[0], "source"),
        active=data.get("active") is not False,
        switched_off=reading.text(data, "switched_off"),
        waits=reading.text(data, "waits"),
        last_error=reading.text(data, "last_error"),
        last_event_at=reading.number(data, "last_event_at"),
        next_run_at=reading.number(data, "next_run_at"),
        schedule=_schedule(data),
        instant=data.get("instant") is True,
        accounts=accounts,
        props=reading.objects(data.get("configurable_props")),
        configured=configured if isinstance(configured, dict) else {},
        emit_on_deploy=data.get("emit_on_deploy") is not False,
        created_at=reading.number(data, "created_at"),
        updated_at=reading.number(data, "updated_at"),
        endpoint_url=reading.text(data, "endpoint_url"),
        email_address=reading.text(data, "email_address"),
        signing_key=reading.text(data, "webhook_signing_key"),
    )


def endpoint(data: Json) -> Endpoint:
    """A trigger webhook entry (section 2.8)."""
    state = reading.mapping(data, "delivery_state")
    told = _state_of(data)
    failed_lately = told == "penalty" and reading.text(state, "state") == "happy"
    return Endpoint(
        id=reading.text(data, "id"),
        url=reading.text(data, "url"),
        key=reading.text(data, "signing_key"),
        state=told,
        since=None if failed_lately else _of_seconds(state, "since"),
        last_error=reading.text(state, "last_error"),
    )


def workflows(answer: Json) -> list[Workflow]:
    """The answer of ``…/pipelines``; without extensions it has ids alone."""
    told = {reading.text(item, "id"): Workflow(reading.text(item, "id"), reading.text(item, "name"), _state_of(item))
            for item in reading.objects(answer.get("workflows"))}  # fmt: skip
    ids = answer.get("workflow_ids")
    found = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
    return [told.get(one) or Workflow(one, "") for one in found]


def event(data: Json) -> Event:
    """``{e, k, ts, id, sum?}``."""
    return Event(reading.text(data, "id"), reading.number(data, "ts"), reading.text(data, "sum"), data.get("e"))


def watch(data: Json) -> Watch:
    """An entry of ``…/logs``."""
    return Watch(
        id=reading.text(data, "id"),
        at=reading.number(data, "at"),
        cause=reading.text(data, "cause"),
        ok=data.get("ok") is not False,
        took_ms=reading.number(data, "took_ms"),
        emitted=reading.number(data, "emitted") or 0,
        error=reading.text(data, "error"),
        lines=data.get("os"),
    )


def _schedule(data: Json) -> Json | None:
    """The schedule: told by the service, else what a timer's own fields say."""
    told = data.get("schedule")
    if isinstance(told, dict):
        return told
    if reading.text(data, "cron"):
        return {"cron": reading.text(data, "cron"), "timezone": reading.text(data, "timezone") or "UTC"}
    seconds = reading.number(data, "interval_seconds")
    return {"intervalSeconds": seconds} if seconds else None


def _state_of(data: Json) -> str:
    """How an address does, as :class:`Endpoint` says."""
    state = reading.mapping(data, "delivery_state")
    if data.get("active") is False:
        return "deactivated"
    failed_lately = bool(reading.number(state, "consecutive_failures"))
    told = reading.text(state, "state") or "happy"
    return "penalty" if told == "happy" and failed_lately else told


def _of_seconds(data: Json, key: str) -> int | None:
    found = reading.number(data, key)
    return None if found is None else found * SECOND
