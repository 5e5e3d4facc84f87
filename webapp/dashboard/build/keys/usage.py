"""The usage of a project in the last 30 days, by day in UTC, as a column chart and as a table for screen readers."""

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
    """The context of the chart."""
    days = by_day(read() or (), _first())
    return {
        "usage_days": days,
        "usage_bars": charts.columns([_stack(day) for day in days]),
        "usage_width": charts.width_of(DAYS),
        "usage_height": charts.HEIGHT,
    }


def read() -> Sequence[UsageHour] | None:
    """What was used in the last 30 days, by hour; ``None`` if the service does not say."""
    return usage.hours(viewer().client, _first() // SECOND, dashboard().clock() // SECOND + 1)


def _first() -> int:
    """When the first of the days began, in epoch milliseconds."""
    return dashboard().clock() // DAY * DAY - (DAYS - 1) * DAY


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
