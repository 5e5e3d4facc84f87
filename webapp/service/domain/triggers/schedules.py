"""Schedules, an interval or a cron expression in a time zone: when they tick, also after failures, and the payload.

:mod:`configuration` decides which schedules are allowed: none is shorter than :data:`webapp.quotas.MIN_POLL_S`, or for
a timer :data:`webapp.quotas.MIN_TIMER_S`. Ticks follow from the schedule itself: an interval's from its anchor, the
time when it was set; a cron expression's from the calendar, where a job at a set time runs once on both days that
change the clocks, as in Debian's cron. After an outage a schedule runs once for all missed ticks, and later ticks are
unchanged.
"""

import functools
import zoneinfo
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cronsim import CronSim

from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.kit.retries import back_off

Schedule = Mapping[str, Any]
MAX_INTERVAL_S = 366 * 24 * 3600
CLOCK_TOLERANCE = 3 * HOUR


def next_after(schedule: Schedule, anchor: int, after: int) -> int | None:
    """The first tick after ``after``; times in epoch milliseconds. None where no more will come."""
    if "intervalSeconds" in schedule:
        step = schedule["intervalSeconds"] * SECOND
        return int(anchor + max((after - anchor) // step + 1, 0) * step)
    return _cron_after(schedule["cron"], schedule["timezone"], after // MINUTE)


def next_after_failures(schedule: Schedule, anchor: int, failures: int, now: int) -> int | None:
    """The next poll after so many ``failures`` in a row: after a wait that grows (:data:`webapp.kit.retries.BACK_OFF`).

    If ticks are further apart than that wait, the poll is between them; else it is the first tick after it.
    """
    if not failures:
        return next_after(schedule, anchor, now)
    wait = back_off(failures)
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
