"""Deployed triggers, their events and deliveries, as the Connect API tells them (specification 2.7, 2.8; WIRE).

Reading is lenient like in :mod:`.shapes`. Times are integer epoch milliseconds, on the wire too but for those of
webhooks, which are seconds there; what our service alone tells is optional.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webapp.dashboard.shapes import Json
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
class Attempt:
    """One try of a delivery; ``error`` is a sentence when no answer came."""

    number: int
    at: int | None
    took_ms: int | None
    code: int | None
    error: str
    headers: tuple[tuple[str, str], ...]
    body: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to one address. ``status`` is ``waiting``, ``delivered`` or ``failed``."""

    id: str
    event_id: str
    url: str
    status: str
    attempt: int
    created_at: int | None
    next_at: int | None
    last_at: int | None
    code: int | None
    error: str
    took_ms: int | None
    summary: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request_body: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def retrying(self) -> bool:
        """Whether it was tried without success and will be tried again."""
        return self.status == "waiting" and self.attempt > 0


@dataclass(frozen=True, slots=True)
class Hour:
    """What became of one hour's deliveries."""

    start: int
    delivered: int
    failed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Day:
    """The last 24 hours, oldest first."""

    hours: tuple[Hour, ...]
    delivered: int
    failed: int
    waiting: int
    events: int
    last_event_at: int | None

    @property
    def total(self) -> int:
        """All deliveries of the day."""
        return self.delivered + self.failed + self.waiting


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
    accounts = tuple(_text(item, "id") for item in listed if isinstance(item, dict)) if isinstance(listed, list) else ()
    configured = data.get("configured_props")
    key, identity = _text(data, "component_key"), _text(data, "id")
    return Trigger(
        id=identity,
        name=_text(data, "name") or key or identity,
        component_key=key,
        version=_text(data, "version"),
        app=_text(data, "app"),
        emitter=_text(data, "emitter_type") or _EMITTERS.get(identity.partition("_")[0], "source"),
        active=data.get("active") is not False,
        switched_off=_text(data, "switched_off"),
        waits=_text(data, "waits"),
        last_error=_text(data, "last_error"),
        last_event_at=_number(data, "last_event_at"),
        next_run_at=_number(data, "next_run_at"),
        schedule=_schedule(data),
        instant=data.get("instant") is True,
        accounts=accounts,
        props=_objects(data.get("configurable_props")),
        configured=configured if isinstance(configured, dict) else {},
        emit_on_deploy=data.get("emit_on_deploy") is not False,
        created_at=_number(data, "created_at"),
        updated_at=_number(data, "updated_at"),
        endpoint_url=_text(data, "endpoint_url"),
        email_address=_text(data, "email_address"),
        signing_key=_text(data, "webhook_signing_key"),
    )


def endpoint(data: Json) -> Endpoint:
    """A trigger webhook entry (section 2.8)."""
    state = _object(data, "delivery_state")
    told = _state_of(data)
    failed_lately = told == "penalty" and _text(state, "state") == "happy"
    return Endpoint(
        id=_text(data, "id"),
        url=_text(data, "url"),
        key=_text(data, "signing_key"),
        state=told,
        since=None if failed_lately else _of_seconds(state, "since"),
        last_error=_text(state, "last_error"),
    )


def workflows(answer: Json) -> list[Workflow]:
    """The answer of ``…/pipelines``; without extensions it has ids alone."""
    told = {_text(item, "id"): Workflow(_text(item, "id"), _text(item, "name"), _state_of(item))
            for item in _objects(answer.get("workflows"))}  # fmt: skip
    ids = answer.get("workflow_ids")
    found = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
    return [told.get(one) or Workflow(one, "") for one in found]


def event(data: Json) -> Event:
    """``{e, k, ts, id, sum?}``."""
    return Event(_text(data, "id"), _number(data, "ts"), _text(data, "sum"), data.get("e"))


def delivery(data: Json) -> Delivery:
    """An entry of ``…/deliveries``; with its request and attempts when it is the single one."""
    request = data.get("request")
    request = request if isinstance(request, dict) else {}
    return Delivery(
        id=_text(data, "id"),
        event_id=_text(data, "event_id"),
        url=_text(data, "url"),
        status=_text(data, "status") or "waiting",
        attempt=_number(data, "attempt") or 0,
        created_at=_number(data, "created_at"),
        next_at=_number(data, "next_attempt_at"),
        last_at=_number(data, "last_attempt_at"),
        code=_number(data, "response_status"),
        error=_text(data, "error"),
        took_ms=_number(data, "took_ms"),
        summary=_text(data, "summary"),
        request_headers=_headers(request.get("headers")),
        request_body=_text(request, "body"),
        attempts=tuple(_attempt(item) for item in _objects(data.get("attempts"))),
    )


def day(data: Json) -> Day:
    """The answer of ``…/stats``."""
    hours = tuple(
        Hour(_number(item, "start") or 0, *(_number(item, part) or 0 for part in ("delivered", "failed", "waiting")))
        for item in _objects(data.get("hours"))
    )
    return Day(
        hours=hours,
        delivered=_number(data, "delivered") or 0,
        failed=_number(data, "failed") or 0,
        waiting=_number(data, "waiting") or 0,
        events=_number(data, "events") or 0,
        last_event_at=_number(data, "last_event_at"),
    )


def watch(data: Json) -> Watch:
    """An entry of ``…/logs``."""
    return Watch(
        id=_text(data, "id"),
        at=_number(data, "at"),
        cause=_text(data, "cause"),
        ok=data.get("ok") is not False,
        took_ms=_number(data, "took_ms"),
        emitted=_number(data, "emitted") or 0,
        error=_text(data, "error"),
        lines=data.get("os"),
    )


def _attempt(data: Json) -> Attempt:
    return Attempt(
        number=_number(data, "n") or 0,
        at=_number(data, "at"),
        took_ms=_number(data, "took_ms"),
        code=_number(data, "response_status"),
        error=_text(data, "error"),
        headers=_headers(data.get("response_headers")),
        body=_text(data, "response_body"),
    )


def _schedule(data: Json) -> Json | None:
    """The schedule: told by the service, else what a timer's own fields say."""
    told = data.get("schedule")
    if isinstance(told, dict):
        return told
    if _text(data, "cron"):
        return {"cron": _text(data, "cron"), "timezone": _text(data, "timezone") or "UTC"}
    seconds = _number(data, "interval_seconds")
    return {"intervalSeconds": seconds} if seconds else None


def _state_of(data: Json) -> str:
    """How an address does, as :class:`Endpoint` says."""
    state = _object(data, "delivery_state")
    if data.get("active") is False:
        return "deactivated"
    failed_lately = bool(_number(state, "consecutive_failures"))
    told = _text(state, "state") or "happy"
    return "penalty" if told == "happy" and failed_lately else told


def _object(data: Json, key: str) -> Json:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _headers(value: object) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(text)) for name, text in value.items()) if isinstance(value, dict) else ()


def _objects(value: object) -> tuple[dict[str, Any], ...]:
    found: Sequence[Any] = value if isinstance(value, list) else []
    return tuple(item for item in found if isinstance(item, dict))


def _text(data: Json, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Json, key: str) -> int | None:
    value = data.get(key)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _of_seconds(data: Json, key: str) -> int | None:
    found = _number(data, key)
    return None if found is None else found * SECOND
