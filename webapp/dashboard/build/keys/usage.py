"""The usage of a project in the last 30 days, and the calls that pages made for this person.

Usage is counted by day in UTC, and shown as a column chart and as a table for screen readers. Calls are listed newest
first, each with code that repeats it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from webapp.dashboard.client.build import usage
from webapp.dashboard.client.build.usage import UsageHour
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.component.snippets import snippets
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.gate import CALLS_KEPT
from webapp.dashboard.pages import ListQuery, among, within
from webapp.dashboard.trigger import charts
from webapp.kit.clock import DAY, SECOND
from webapp.kit.translation import lazy as _

DAYS = 30
PER_PAGE = 20
KINDS: Mapping[str, str] = {"": _("All"), "failed": _("Failed")}


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


class CallsQuery(ListQuery):
    """Which calls, and how far back."""

    calls: Annotated[str, among(KINDS)] = ""
    page: Annotated[int, within(1, CALLS_KEPT)] = 1


def calls_context() -> dict[str, Any]:
    """The context of the list: a page of all calls, or of those that failed."""
    query = CallsQuery.of_request()
    calls = list(dashboard().calls.get(viewer().external_user_id) or ())[::-1]
    failed = [call for call in calls if call.failed]
    matching = failed if query.calls else calls
    last = max(1, -(-len(matching) // PER_PAGE))
    first = (min(query.page, last) - 1) * PER_PAGE
    return {
        "calls": matching[first : first + PER_PAGE],
        "calls_total": len(matching),
        "calls_page": min(query.page, last),
        "calls_last": last,
        "calls_failed": len(failed),
        "calls_query": query,
        "snippets_of": snippets_of,
    }


def snippets_of(call: CallRecord) -> list[tuple[str, str]]:
    """The same call in each language; the token is the reader's own."""
    return snippets(dashboard().settings.connect_base + call.address, call.environment, call.body, call.method)
