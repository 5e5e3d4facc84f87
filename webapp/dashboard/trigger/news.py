"""News of a trigger's page since it was rendered: the number of new rows, and the changed parts of the frame.

Rows never move while a person reads: new ones are announced in a pill that leads to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Response, make_response, request, url_for

from webapp.dashboard.pages import fragment
from webapp.dashboard.trigger.frame import Frame, context_of
from webapp.kit.translation import gettext, ngettext

MOST, FULL = 50, 30


@dataclass(frozen=True, slots=True)
class News:
    """Where the page polls for news, and the current pill. ``count`` is 0 while there is none."""

    url: str
    rows_url: str
    count: int
    words: str


def since(frame: Frame, tab: str, rows: Sequence[Any], *, rows_url: str, newest: str | None = None) -> News:
    """News of ``rows``, newest first, since the row ``newest`` was the first; ``None`` for a page just rendered."""
    top = rows[0].id if rows else ""
    known = top if newest is None else newest
    count = next((number for number, row in enumerate(rows) if row.id == known), len(rows))
    query = {
        "tab": tab,
        "newest": known,
        "seen": frame.digest(frame.trigger.next_run_at, count, _states(rows, count)),
        "around": frame.digest(),
        "shown": count,
        "rows": rows_url,
    }
    url = url_for("dashboard.trigger.news", trigger_id=frame.trigger.id) + "?" + urlencode(query)
    more = newest is not None and count == len(rows) >= FULL  # the page that was asked for ends before the known row
    return News(url, rows_url, count, _words(tab, count, more))


def answer(frame: Frame, tab: str, rows: Sequence[Any], *, rows_url: str) -> Response:
    """204 while nothing has changed; else the pill, and the current parts of the page."""
    news = since(frame, tab, rows, rows_url=rows_url, newest=request.args.get("newest", ""))
    if f"seen={request.args.get('seen', '')}&" in news.url:
        return Response(status=204)
    # What says the same stays as it is, under somebody's pointer and with the focus in it.
    moved, around = request.args.get("shown") != str(news.count), request.args.get("around") != frame.digest()
    more = {"news": news, "moved": moved, "around": around, "known": rows[news.count :]}
    context = context_of(frame, tab) | more
    return make_response(fragment("dashboard/trigger/_changed.html", **context))


def _words(tab: str, count: int, more: bool) -> str:
    """``3 new events``, or ``30 or more new events`` when the page that was asked for ends before the known row."""
    if tab == "events":
        exactly = ngettext("{count} new event", "{count} new events", count)
        at_least = gettext("{count} or more new events")
    elif tab == "deliveries":
        exactly = ngettext("{count} new delivery", "{count} new deliveries", count)
        at_least = gettext("{count} or more new deliveries")
    else:
        exactly = ngettext("{count} new run", "{count} new runs", count)
        at_least = gettext("{count} or more new runs")
    return (at_least if more else exactly).format(count=f"{count:,}")


def _states(rows: Sequence[Any], count: int) -> list[object]:
    """The parts that may change in the rows on the page."""
    return [(row.id, getattr(row, "status", ""), getattr(row, "attempt", "")) for row in rows[count:]]
