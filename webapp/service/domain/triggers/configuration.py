"""The configuration of a trigger: its kind of emitter, its name, its values and its schedule.

It is checked as a whole before anything changes. :mod:`schedules` computes the ticks of a schedule.
"""

import functools
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
from cronsim import CronSim, CronSimError

from webapp import quotas
from webapp.errors import Detail, Invalid
from webapp.kit.clock import now
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants, prop_values, run_files
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import schedules
from webapp.service.domain.triggers.deployed_triggers import Emitter

Prop = Mapping[str, Any]
MAX_NAME = 200
MAX_VALUES = 1024 * 1024  # they are read at each run, and a list shows those of a hundred triggers
MAX_CRON = 200


@dataclass(frozen=True, slots=True)
class EmitterKind:
    """A kind of emitter: the prefix of its triggers' ids, and its ``type`` (contract "Ids")."""

    emitter: Emitter
    prefix: str
    type: str


SOURCE = EmitterKind("source", "dc", "DeployedComponent")
HTTP = EmitterKind("http", "hi", "HttpInterface")
TIMER = EmitterKind("timer", "ti", "TimerInterface")
EMAIL = EmitterKind("email", "ei", "DeployedComponent")  # no other type is known to strict clients
NATIVE = {
    "http-new-requests": HTTP,
    "schedule-custom-interval": TIMER,
    "schedule-cron": TIMER,
    "email-new-email": EMAIL,
}
_BY_EMITTER = {kind_of_component.emitter: kind_of_component for kind_of_component in (SOURCE, HTTP, TIMER, EMAIL)}


def kind_of_component(component_key: str) -> EmitterKind:
    """The kind of the component with that key."""
    return NATIVE.get(component_key, SOURCE)


def kind_of_emitter(emitter: Emitter) -> EmitterKind:
    """The kind by its emitter."""
    return _BY_EMITTER[emitter]


@dataclass(frozen=True, slots=True)
class TriggerValues:
    """Checked values. ``configured`` are the values as given, without null and unknown names."""

    configured: Mapping[str, Any] = field(repr=False)
    accounts: Mapping[str, str]
    schedule: dict[str, Any] | None


def checked_values(
    service: Service,
    scene: Scene,
    external_id: str,
    kind: EmitterKind,
    props: list[dict[str, Any]],
    configured: Mapping[str, Any],
) -> TriggerValues:
    """``configured`` as values for a trigger with ``props``.

    Raises :class:`Invalid` for a value that is missing, wrong or too large and for a schedule that is not allowed,
    :class:`webapp.errors.NotFound` for an account that is not this user's.
    """
    values = prop_values.checked(props, configured, whole=True)
    if problems := run_files.lasting_problems(props, values.props):
        raise prop_values.refused(problems)
    floor = quotas.MIN_TIMER_S if kind.emitter == "timer" else quotas.MIN_POLL_S
    schedule = chosen_schedule(props, values.props, floor_s=service.settings.quotas[floor.name])
    grants.find_accounts(service, scene, external_id, props, values.accounts)
    known = {prop["name"] for prop in props if prop["type"] != "alert"}
    kept = {name: value for name, value in configured.items() if name in known and value is not None}
    if len(orjson.dumps(kept)) > MAX_VALUES:
        message = "Together the values may have at most 1 MiB as JSON; give less."
        raise Invalid(f"configured_props is not valid: {message}", [Detail("configured_props", message)])
    return TriggerValues(kept, values.accounts, schedule)


def chosen_schedule(props: Sequence[Prop], values: Mapping[str, Any], *, floor_s: int) -> dict[str, Any] | None:
    """The schedule of a trigger with ``props``: the component's fixed one, the person's, or the default.

    None for a component without a timer. Raises :class:`webapp.errors.Invalid` for one that is malformed or shorter
    than ``floor_s`` seconds.
    """
    prop = next((prop for prop in props if prop["type"] == "$.interface.timer"), None)
    if prop is None:
        return None
    value: Any = prop.get("static") or values.get(prop["name"]) or prop.get("default")
    if wrong := _schedule_problem(value, floor_s):
        raise prop_values.refused([Detail(f"{prop_values.FIELD}.{prop['name']}", wrong)])
    if value.get("intervalSeconds") is not None:
        return {"intervalSeconds": value["intervalSeconds"]}
    return {"cron": _single_spaced(value["cron"]), "timezone": value.get("timezone") or "UTC"}


def merged_values(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``before`` with ``changes`` over it, key by key; null removes (contract "Updating")."""
    return {name: value for name, value in {**before, **changes}.items() if value is not None}


def checked_name(name: str) -> str:
    """``name`` without outer spaces. Raises :class:`Invalid`."""
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        message = f"Use 1 to {MAX_NAME} printable characters."
        raise Invalid(f"The name is not valid: {message}", [Detail("name", message)])
    return name


def _schedule_problem(value: Any, floor_s: int) -> str | None:
    """Why ``value`` is no schedule to keep, in a sentence. It has passed the check of its prop type."""
    if value is None:
        return "It is missing; choose when the trigger runs."
    interval = value.get("intervalSeconds")
    if interval is not None:
        if interval < floor_s:
            return quotas.MIN_TIMER_S.words(floor_s)
        return None if interval <= schedules.MAX_INTERVAL_S else "Its intervalSeconds must be at most 366 days."
    zone = value.get("timezone") or "UTC"
    if zone not in _zones():
        return "Its timezone is not known; name one such as Europe/Berlin."
    cron = value["cron"]
    if len(cron) > MAX_CRON or not cron.isascii() or len(cron.split()) != 5:
        return "Its cron must have five fields: minute, hour, day of month, month, day of week."
    try:
        CronSim(_single_spaced(cron), datetime.now(UTC))
    except CronSimError as error:
        return f"Its cron cannot be read ({error}); use five fields such as 0 9 * * 1-5."
    if schedules.next_after({"cron": _single_spaced(cron), "timezone": zone}, 0, now()) is None:
        return "Its cron has no future dates; choose days that exist."
    return None


def _single_spaced(cron: str) -> str:
    return " ".join(cron.split())


@functools.cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
