"""Schedules, an interval or a cron expression in a time zone: which are allowed, when they tick, also after failures,
and the payload.

No interval is shorter than :data:`webapp.quotas.MIN_POLL_S`, or for a timer :data:`webapp.quotas.MIN_TIMER_S`. Ticks
follow from the schedule itself: an interval's from its anchor, the time when it was set; a cron expression's from the
calendar, where a job at a set time runs once on both days that change the clocks, as in Debian's cron. After an outage
a schedule runs once for all missed ticks, and later ticks are unchanged.
"""

import functools
import zoneinfo
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cronsim import CronSim, CronSimError

from webapp import quotas
from webapp.kit import clock
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.kit.retries import back_off
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers.deployed_triggers import Emitter

Schedule = Mapping[str, Any]
MAX_INTERVAL_S = 366 * 24 * 3600
MAX_CRON = 200
BACK_OFF = (30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)  # of polls
CLOCK_TOLERANCE = 3 * HOUR


def shortest_s(service: Service, emitter: Emitter) -> int:
    """The shortest interval of such a trigger that the operator allows, in seconds."""
    floor = quotas.MIN_TIMER_S if emitter == "timer" else quotas.MIN_POLL_S
    return service.settings.quotas[floor.name]


def problem(value: Any, floor_s: int) -> str | None:
    """Why ``value`` is no schedule to keep, in a sentence; ``floor_s`` is its shortest interval in seconds.

    It has passed the check of its prop type.
    """
    if value is None:
        return "It is missing; choose when the trigger runs."
    interval = value.get("intervalSeconds")
    if interval is not None:
        if interval < floor_s:
            return quotas.MIN_TIMER_S.words(floor_s)
        return None if interval <= MAX_INTERVAL_S else "Its intervalSeconds must be at most 366 days."
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
    if next_after(stored(value), 0, clock.now()) is None:
        return "Its cron has no future dates; choose days that exist."
    return None


def stored(value: Mapping[str, Any]) -> dict[str, Any]:
    """``value``, which has no :func:`problem`, as the schedule that is stored."""
    if value.get("intervalSeconds") is not None:
        return {"intervalSeconds": value["intervalSeconds"]}
    return {"cron": _single_spaced(value["cron"]), "timezone": value.get("timezone") or "UTC"}


def next_after(schedule: Schedule, anchor: int, after: int) -> int | None:
    """The first tick after ``after``; times in epoch milliseconds. None where no more will come."""
    if "intervalSeconds" in schedule:
        step = schedule["intervalSeconds"] * SECOND
        return int(anchor + max((after - anchor) // step + 1, 0) * step)
    return _cron_after(schedule["cron"], schedule["timezone"], after // MINUTE)


def next_after_failures(schedule: Schedule, anchor: int, failures: int, now: int) -> int | None:
    """The next poll after so many ``failures`` in a row: after a wait that grows (:data:`BACK_OFF`).

    If ticks are further apart than that wait, the poll is between them; else it is the first tick after it.
    """
    if not failures:
        return next_after(schedule, anchor, now)
    wait = back_off(BACK_OFF, failures)
    if wait < gap(schedule, anchor, now):
        next_tick = next_after(schedule, anchor, now)
        return min(now + wait, next_tick) if next_tick else now + wait
    return next_after(schedule, anchor, now + wait - 1)


def latest(schedule: Schedule, due: int, now: int) -> int:
    """The last tick up to ``now``, for a schedule whose first missed tick was ``due``."""
    if "intervalSeconds" in schedule:
        step = schedule["intervalSeconds"] * SECOND
        return int(due + max((now - due) // step, 0) * step)
    if now - due < MINUTE:
        return due
    tick = _cron_before(schedule["cron"], schedule["timezone"], now // MINUTE + 1)
    return due if tick is None else max(tick, due)


def gap(schedule: Schedule, anchor: int, after: int) -> int:
    """Milliseconds between the next two ticks."""
    if "intervalSeconds" in schedule:
        return int(schedule["intervalSeconds"] * SECOND)
    first = next_after(schedule, anchor, after)
    second = next_after(schedule, anchor, first) if first else None
    return second - first if first and second else MAX_INTERVAL_S * SECOND


def realigned(schedule: Schedule, anchor: int, last: int, now: int) -> int | None:
    """The next tick of a schedule that ran ``last`` by a clock which has since been set back to ``now``; None if the
    stored tick is still right.

    An interval counts from now. A cron tick stays, since it is a time of the calendar, unless the clock was wrong by
    more than three hours: then it is computed again, as in Debian's cron.
    """
    if "intervalSeconds" in schedule:
        return next_after(schedule, anchor, now)
    return next_after(schedule, now, now) if last - now > CLOCK_TOLERANCE else None


def to_json(schedule: Schedule) -> dict[str, Any]:
    """The schedule as native triggers show it (contract "Native triggers"); clients expect a time zone, even with
    intervals.
    """
    if "intervalSeconds" in schedule:
        return {"interval_seconds": schedule["intervalSeconds"], "cron": None, "timezone": "UTC"}
    return {"interval_seconds": None, "cron": schedule["cron"], "timezone": schedule["timezone"]}


def tick_payload(schedule: Mapping[str, Any], at: int) -> dict[str, Any]:
    """The payload of a tick that was due at ``at`` (epoch milliseconds)."""
    if "intervalSeconds" in schedule:
        return {"timestamp": at, "interval_seconds": schedule["intervalSeconds"]}
    return {"timestamp": at, "cron": schedule["cron"], "timezone": schedule.get("timezone") or "UTC"}


def _single_spaced(cron: str) -> str:
    return " ".join(cron.split())


@functools.cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


@functools.lru_cache(maxsize=4096)  # thousands of triggers share few expressions, and finding a tick is slow
def _cron_after(cron: str, zone: str, minute: int) -> int | None:
    """The first tick after the ``minute``-th minute of the epoch began; ticks are at whole minutes."""
    return _step(cron, datetime.fromtimestamp(minute * 60, zoneinfo.ZoneInfo(zone)), reverse=False)


def _cron_before(cron: str, zone: str, minute: int) -> int | None:
    """The last tick before the ``minute``-th minute of the epoch began."""
    return _step(cron, datetime.fromtimestamp(minute * 60, zoneinfo.ZoneInfo(zone)), reverse=True)


def _step(cron: str, moment: datetime, *, reverse: bool) -> int | None:
    tick = next(CronSim(cron, moment, reverse=reverse), None)
    return None if tick is None else int(tick.timestamp()) * SECOND
