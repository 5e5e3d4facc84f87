"""Schedules: an interval, or a cron expression in a time zone; which are allowed, and when the next tick is.

Ticks are labels that follow from the schedule alone: an interval's from its anchor, the time when it was set; a cron
expression's from the calendar, where a job at a set time runs once on both days that change the clocks, as Debian's
cron has it. Whoever slept runs once for all that was missed, and the ticks after it stand where they stood.
"""

import functools
import zoneinfo
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cronsim import CronSim, CronSimError

from webapp.errors import Detail
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.domain.components.prop_values import FIELD, refused

Schedule = Mapping[str, Any]
TIMER = "$.interface.timer"
LONGEST_S = 366 * 24 * 3600
MAX_CRON = 200
CLOCK_TOLERANCE = 3 * HOUR


def timer_of(props: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The prop that holds the schedule, if the component has one."""
    return next((prop for prop in props if prop["type"] == TIMER), None)


def chosen(props: Sequence[Mapping[str, Any]], values: Mapping[str, Any], *, floor_s: int) -> dict[str, Any] | None:
    """The schedule of a trigger with ``props``: what the component fixed, what a person gave, or its default.

    None for a component without a timer. Raises :class:`webapp.errors.Invalid` for one that cannot be kept, or that
    is shorter than ``floor_s`` seconds.
    """
    prop = timer_of(props)
    if prop is None:
        return None
    value = prop.get("static") or values.get(prop["name"]) or prop.get("default")
    if value is None:
        raise refused([Detail(f"{FIELD}.{prop['name']}", "It is missing; say when it should run.")])
    wrong = _wrong(value, floor_s)
    if wrong:
        raise refused([Detail(f"{FIELD}.{prop['name']}", wrong)])
    if value.get("intervalSeconds") is not None:
        return {"intervalSeconds": value["intervalSeconds"]}
    return {"cron": _normal(value["cron"]), "timezone": value.get("timezone") or "UTC"}


def next_after(schedule: Schedule, anchor: int, after: int) -> int | None:
    """The first tick after ``after``; times in epoch milliseconds. None where no more will come."""
    if "intervalSeconds" in schedule:
        step = schedule["intervalSeconds"] * SECOND
        return int(anchor + max((after - anchor) // step + 1, 0) * step)
    return _cron_after(schedule["cron"], schedule["timezone"], after // MINUTE)


def latest(schedule: Schedule, due: int, now: int) -> int:
    """The last tick up to ``now``, for a schedule whose tick at ``due`` is the first that was not kept."""
    if "intervalSeconds" in schedule:
        step = schedule["intervalSeconds"] * SECOND
        return int(due + max((now - due) // step, 0) * step)
    if now - due < MINUTE:
        return due
    tick = _cron_before(schedule["cron"], schedule["timezone"], now // MINUTE + 1)
    return due if tick is None else max(tick, due)


def gap(schedule: Schedule, anchor: int, after: int) -> int:
    """Milliseconds between the next two ticks: how long a schedule pauses now."""
    if "intervalSeconds" in schedule:
        return int(schedule["intervalSeconds"] * SECOND)
    first = next_after(schedule, anchor, after)
    second = next_after(schedule, anchor, first) if first else None
    return second - first if first and second else LONGEST_S * SECOND


def realigned(schedule: Schedule, anchor: int, last: int, now: int) -> int | None:
    """The next tick of a schedule that ran ``last`` by a clock which has since been set back to ``now``; None where the
    tick that stands is still right.

    An interval counts from now. A cron tick stays, since it is a time of the calendar, unless the clock was wrong by
    more than three hours: then it is looked for anew, as Debian's cron does.
    """
    if "intervalSeconds" in schedule:
        return next_after(schedule, anchor, now)
    return next_after(schedule, now, now) if last - now > CLOCK_TOLERANCE else None


def shown(schedule: Schedule) -> dict[str, Any]:
    """As native triggers show it (contract "Native triggers"); clients expect a time zone, even where it means none."""
    if "intervalSeconds" in schedule:
        return {"interval_seconds": schedule["intervalSeconds"], "cron": None, "timezone": "UTC"}
    return {"interval_seconds": None, "cron": schedule["cron"], "timezone": schedule["timezone"]}


def _wrong(value: Any, floor_s: int) -> str | None:
    """Why ``value`` is no schedule to keep, in a sentence. It has passed the check of its prop type."""
    interval = value.get("intervalSeconds")
    if interval is not None:
        if interval < floor_s:
            return f"It may not run more often than every {floor_s} seconds."
        return None if interval <= LONGEST_S else "Its intervalSeconds must be at most 366 days."
    zone = value.get("timezone") or "UTC"
    if zone not in _zones():
        return "Its timezone is not known; name one such as Europe/Berlin."
    cron = value["cron"]
    if len(cron) > MAX_CRON or not cron.isascii() or len(cron.split()) != 5:
        return "Its cron must have five fields: minute, hour, day of month, month, day of week."
    try:
        CronSim(_normal(cron), datetime.now(UTC))
    except CronSimError as error:
        return f"Its cron cannot be read ({error}); use five fields such as 0 9 * * 1-5."
    if _cron_after(_normal(cron), zone, int(datetime.now(UTC).timestamp()) // 60) is None:
        return "Its cron never comes round; choose days that exist."
    return None


def _normal(cron: str) -> str:
    return " ".join(cron.split())


@functools.cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


@functools.lru_cache(maxsize=4096)  # thousands of triggers share few expressions, and finding a tick is slow
def _cron_after(cron: str, zone: str, minute: int) -> int | None:
    """The first tick after the ``minute``-th minute of the epoch began; ticks stand at whole minutes."""
    return _step(cron, datetime.fromtimestamp(minute * 60, zoneinfo.ZoneInfo(zone)), reverse=False)


def _cron_before(cron: str, zone: str, minute: int) -> int | None:
    """The last tick before the ``minute``-th minute of the epoch began."""
    return _step(cron, datetime.fromtimestamp(minute * 60, zoneinfo.ZoneInfo(zone)), reverse=True)


def _step(cron: str, moment: datetime, *, reverse: bool) -> int | None:
    tick = next(CronSim(cron, moment, reverse=reverse), None)
    return None if tick is None else int(tick.timestamp()) * SECOND
