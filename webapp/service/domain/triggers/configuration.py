"""The configuration of a trigger: its kind of emitter, its name, its values and its schedule.

It is checked as a whole before anything changes. :mod:`schedules` decides which schedules are allowed, and computes
their ticks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.errors import Detail, Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants, prop_values, run_files
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import schedules
from webapp.service.domain.triggers.deployed_triggers import Emitter

Prop = Mapping[str, Any]
MAX_NAME = 200
MAX_VALUES = 1024 * 1024  # they are read at each run, and a list shows those of a hundred triggers


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
    schedule = chosen_schedule(props, values.props, floor_s=schedules.shortest_s(service, kind.emitter))
    account_grants.find_accounts(service, scene, external_id, props, values.accounts)
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
    if wrong := schedules.problem(value, floor_s):
        raise prop_values.refused([Detail(f"{prop_values.FIELD}.{prop['name']}", wrong)])
    return schedules.stored(value)


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
