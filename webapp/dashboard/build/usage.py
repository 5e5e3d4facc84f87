"""Build → Usage: runs of actions, events and failures of the project and environment, by day (UTC) and app.

Each of the three is a column chart with its sum; tables hold the same numbers, by app and by day. How many days, and
of which app, is in the address.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import render_template, request, url_for

from webapp.dashboard.build import menu
from webapp.dashboard.client.build import usage
from webapp.dashboard.client.build.usage import AppDay
from webapp.dashboard.dashboard import app_of, dashboard, viewer
from webapp.dashboard.trigger import charts
from webapp.kit import slugs
from webapp.kit.clock import DAY, SECOND, iso
from webapp.kit.translation import gettext, pgettext

PERIODS = (7, 30)
NO_APP = "-"
"""In the address, what belongs to no app."""

blueprint = menu.blueprint("usage")


@dataclass(frozen=True, slots=True)
class Counts:
    """What happened within some time: of ``name``, a day or an app, with the slug or the date ``key``."""

    key: str = ""
    name: str = ""
    runs: int = 0
    failed_runs: int = 0
    events: int = 0
    failed_deliveries: int = 0

    @property
    def failures(self) -> int:
        """Runs and deliveries that failed."""
        return self.failed_runs + self.failed_deliveries

    @property
    def total(self) -> int:
        """0 where nothing happened."""
        return self.runs + self.events + self.failures


@blueprint.get("")
def page() -> str:
    """The page."""
    days, app = _chosen()
    first = dashboard().clock() // DAY * DAY - (days - 1) * DAY
    read = usage.by_app(viewer().client, first // SECOND, dashboard().clock() // SECOND + 1) or ()
    names = _names({row.app for row in read} | ({app.removeprefix(NO_APP)} if app else set()))
    shown = [row for row in read if not app or (row.app or NO_APP) == app]
    by_day = _by_day(shown, first, days)
    return render_template(
        "dashboard/build/usage/page.html",
        days=days, app=app, names=names, periods=PERIODS, by_day=by_day,
        by_app=_by_app(shown, names), sum=_summed("", "", shown), drawn=_drawn(by_day), width=charts.width_of(days),
        height=charts.HEIGHT, address=_address,
    )  # fmt: skip


def _chosen() -> tuple[int, str]:
    """The days and the app of the address; 7 days and every app unless it names others."""
    days = request.args.get("days", "")
    return int(days) if days in map(str, PERIODS) else PERIODS[0], request.args.get("app", "")[:100]


def _address(days: int, app: str) -> str:
    return url_for("dashboard.build_usage.page", days=days, app=app or None)


def _names(shown: Iterable[str]) -> Mapping[str, str]:
    """The names of apps by what stands for each in the address, by name; last, of what belongs to no app."""
    named = {slug: _name(slug) for slug in shown if slug}
    none = {NO_APP: pgettext("usage", "No app")} if "" in shown else {}
    return dict(sorted(named.items(), key=lambda item: item[1].lower())) | none


def _name(slug: str) -> str:
    """The name of an app; of one that is unknown, words made of its slug."""
    known = dashboard().app_names.get(slug)
    app = None if known else app_of(slug)
    return known or (app.name if app else slugs.words(slug))


def _by_day(rows: Sequence[AppDay], first: int, days: int) -> list[Counts]:
    """One for each day from ``first`` on (epoch milliseconds), oldest first."""
    dates = [iso(first + number * DAY)[:10] for number in range(days)]
    return [_summed(date, date, [row for row in rows if row.day == date]) for date in dates]


def _by_app(rows: Sequence[AppDay], names: Mapping[str, str]) -> list[Counts]:
    """One for each app with anything, the busiest first."""
    sums = [_summed(key, name, [row for row in rows if (row.app or NO_APP) == key]) for key, name in names.items()]
    return sorted((each for each in sums if each.total), key=lambda each: -each.total)


def _summed(key: str, name: str, rows: Sequence[AppDay]) -> Counts:
    fields = ("runs", "failed_runs", "events", "failed_deliveries")
    return Counts(key, name, *(sum(getattr(row, field) for row in rows) for field in fields))


def _drawn(days: Sequence[Counts]) -> list[dict[str, Any]]:
    """The three charts: what each is of, the tones of its columns, and its bars."""
    stacks: tuple[tuple[str, int, list[charts.Stack]], ...] = (
        (
            gettext("Runs of actions"),
            sum(day.runs for day in days),
            [((max(day.runs - day.failed_runs, 0), "run"), (day.failed_runs, "x")) for day in days],
        ),
        (gettext("Events"), sum(day.events for day in days), [((day.events, "event"),) for day in days]),
        (gettext("Failures"), sum(day.failures for day in days), [((day.failures, "x"),) for day in days]),
    )
    return [{"name": name, "total": total, "bars": charts.columns(columns)} for name, total, columns in stacks]
