"""Calls of the API, as views of the logs: those of the environment, and the last that pages made for this person.

The logs keep what servers call and what pages change. What pages only read is in memory, for those who want to make the
same calls, and is gone when the process ends.
"""

from typing import Any

from flask import url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import logs
from webapp.dashboard.build.keys.sections import blueprint
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.client.models.logs import LogEntry, LogPage, LogPageInfo
from webapp.dashboard.client.transport import Params
from webapp.dashboard.dashboard import dashboard, has_logs, viewer
from webapp.dashboard.logs import LogsQuery, Place
from webapp.errors import NotFound
from webapp.kit.clock import iso
from webapp.kit.translation import gettext

OF_PAGES = 20  # calls of pages at once


class PageCalls:
    """Reads the last calls that pages made for this person, as entries of the logs."""

    def page(self, filters: Params, *, limit: int, after: str = "") -> LogPage:
        """A page of them, newest first; ``filters`` may have a status and a time."""
        calls = [call for call in self._newest_first() if _selects(filters, call)]
        first = next((number for number, call in enumerate(calls, 1) if call.id == after), 0)
        shown = calls[first : first + limit]
        more = shown[-1].id if len(calls) > first + limit else ""
        entries = tuple(map(_entry, shown))
        return LogPage(data=entries, page_info=LogPageInfo(end_cursor=more), counts={"api_call": len(calls)})

    def entry(self, entry_id: str) -> LogEntry:
        """One of them. Raises :class:`NotFound` if it is not in memory any more."""
        for call in self._newest_first():
            if call.id == entry_id:
                return _entry(call)
        raise NotFound(gettext("This call is not in memory any more."))

    def _newest_first(self) -> list[CallRecord]:
        """Those of the chosen environment: code that repeats one names it."""
        calls = dashboard().calls.get(viewer().external_user_id) or ()
        return [call for call in reversed(calls) if call.environment in ("", viewer().client.environment)]


def _selects(filters: Params, call: CallRecord) -> bool:
    since, until = (filters.get(name) or None for name in ("since", "until"))
    return (
        filters.get("status") in (None, "", "failed" if call.failed else "succeeded")
        and (not isinstance(since, int) or call.at >= since)
        and (not isinstance(until, int) or call.at <= until)
    )


def _entry(call: CallRecord) -> LogEntry:
    return LogEntry(
        kind="api_call",
        id=call.id,
        at=iso(call.at),
        status="failed" if call.failed else "succeeded",
        outcome=str(call.status) if call.status else "unanswered",
        title=f"{call.method} {call.address}",
        text=call.sentence,
        took_ms=call.ms,
        request={"method": call.method, "address": call.address, "body": call.body},
        response={"status": call.status or None, "error": call.sentence},
        caller=gettext("a Connect token of yours") if call.as_user else gettext("an access token of the whole project"),
    )


def place(source: str) -> Place:
    """The place of the calls in the logs, or of those that pages made."""
    of_pages = source == "pages"
    sentence = gettext("Open your apps or accounts, then come back.")
    if not of_pages:
        sentence = gettext("Calls of your server appear here, and what is changed on these pages.")
    return Place(
        "dashboard.build_keys.calls",
        of_project=not of_pages,
        beside="dashboard.build_keys",
        values={"source": source},
        about={"kind": "api_call"},
        empty=(gettext("No calls yet"), sentence),
        per_page=OF_PAGES if of_pages else logs.PER_PAGE,
        reader=PageCalls() if of_pages else None,
        crumbs=({"label": gettext("API & keys"), "url": url_for("dashboard.build_keys.calls", source=source)},),
    )


def context(source: str = "logs") -> dict[str, Any]:
    """The context of a list of calls; of a service without logs there are only those of pages."""
    chosen = source if has_logs() else "pages"
    return {**logs.listing(place(chosen), LogsQuery.of_request()), "source": chosen}


@blueprint.get("/calls/<any(logs, pages):source>/news")
def news(source: str) -> AnyResponse:
    """What is new in a list since the page was rendered."""
    return logs.show_news(place(source))


@blueprint.get("/calls/<any(logs, pages):source>/<entry_id>")
def entry(source: str, entry_id: str) -> AnyResponse:
    """What a row opens, or its page."""
    return logs.show_entry(place(source), entry_id)
