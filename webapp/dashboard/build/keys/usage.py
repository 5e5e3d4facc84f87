"""What was used in the last 30 days, day by day in UTC: as columns, and as a table for whoever does not see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webapp.dashboard.client.build import usage
from webapp.dashboard.client.build.usage import UsageHour
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.trigger import charts
from webapp.kit.clock import DAY, SECOND

DAYS = 30


@dataclass(frozen=True, slots=True)
class UsageDay:
    """One day, which begins at ``start`` (epoch milliseconds)."""

    start: int
    runs: int = 0
    proxied: int = 0
    events: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.runs + self.proxied + self.events


def context() -> dict[str, Any]:
    """What the chart is drawn with; ``usage_days`` is ``None`` where the service does not tell."""
    now = dashboard().clock()
    first = now // DAY * DAY - (DAYS - 1) * DAY
    hours = usage.hours(viewer().client, first // SECOND, now // SECOND + 1)
    days = None if hours is None else by_day(hours, first)
    return {
        "usage_days": days,
        "usage_bars": charts.columns([_stack(day) for day in days or ()]),
        "usage_width": charts.width_of(DAYS),
        "usage_height": charts.HEIGHT,
    }


def by_day(hours: Sequence[UsageHour], first: int) -> list[UsageDay]:
    """``hours`` by day, for 30 days from ``first`` on (epoch milliseconds)."""
    sums = {first + n * DAY: [0, 0, 0] for n in range(DAYS)}
    for hour in hours:
        day = sums.get(hour.start * SECOND // DAY * DAY)
        if day is not None:
            day[:] = day[0] + hour.runs, day[1] + hour.proxied, day[2] + hour.events
    return [UsageDay(start, *counts) for start, counts in sums.items()]


def _stack(day: UsageDay) -> charts.Stack:
    return ((day.runs, "run"), (day.proxied, "proxy"), (day.events, "event"))
