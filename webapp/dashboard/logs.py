"""The page Logs: everything that happened to a person, newest first, with filters in the address.

A row opens what was asked, what came back, what that means, what to do next, and code that does it again. New rows are
announced in a pill and never move the page. The list can be saved as CSV and as JSON lines. Build's page of a whole
project is the same (:mod:`webapp.dashboard.build.logs`); a :class:`Place` says whose logs a page shows.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from flask import Blueprint, Response, redirect, request, stream_with_context, url_for
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import audit, log_entry
from webapp.dashboard.client.logs import LogClient
from webapp.dashboard.client.models.logs import LogEntry, LogPage
from webapp.dashboard.dashboard import dashboard, if_up, known_accounts, known_triggers, viewer
from webapp.dashboard.dashboard import logs as own_logs
from webapp.dashboard.log_entry import KINDS, STATUSES
from webapp.dashboard.pages import ListQuery, among, at_most, fragment, page, read_from
from webapp.errors import Invalid
from webapp.kit import slugs
from webapp.kit.clock import DAY, HOUR
from webapp.kit.translation import gettext, ngettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("logs", __name__)

PER_PAGE = 50
MOST_NEWS = 30
MOST_EXPORTED = 10_000
COUNTED = 100  # from so many on, the service says no more
PERIODS: Mapping[str, tuple[str, int]] = {
    "hour": (_("Last hour"), HOUR),
    "day": (_("Last 24 hours"), DAY),
    "week": (_("Last 7 days"), 7 * DAY),
}
COLUMNS = (
    "at", "kind", "id", "status", "outcome", "title", "text", "took_ms", "app", "user", "agent", "component_key",
    "account_id", "trigger_id", "event_id",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class LogsQuery(ListQuery):
    """The filters of the list. ``after`` is the API's cursor."""

    kind: Annotated[str, among(KINDS)] = ""
    status: Annotated[str, among(STATUSES)] = ""
    app: Annotated[str, at_most(100)] = ""
    user: Annotated[str, at_most(250)] = ""
    period: Annotated[str, among(PERIODS)] = ""
    id: Annotated[str, at_most(200)] = ""
    after: Annotated[str, at_most(1_000)] = ""

    def filters(self) -> dict[str, str | int]:
        """The filters as parameters of the API."""
        since = dashboard().clock() - PERIODS[self.period][1] if self.period else 0
        return {
            "kind": self.kind,
            "status": self.status,
            "app": self.app,
            "external_user_id": self.user.strip(),
            "since": since // 60_000 * 60_000,  # the same for a minute: a cursor is of one filter
            "id": self.id.strip(),
        }


@dataclass(frozen=True, slots=True)
class Place:
    """Whose logs a page shows, whose list is ``endpoint``: a person's own, or with ``of_project`` the project's."""

    endpoint: str
    of_project: bool = False

    def client(self) -> LogClient:
        """What reads them."""
        return LogClient(viewer().client) if self.of_project else own_logs()

    def url(self, view: str = "", **values: Any) -> str:
        """The address of the list, or of another view of it."""
        if not view:
            return url_for(self.endpoint, **values)
        return url_for(f"{self.endpoint.rpartition('.')[0]}.{view}", **values)


OWN = Place("dashboard.logs.index")


def add_views(target: Blueprint, place: Place, path: str) -> None:
    """Serve the logs of ``place`` from ``target``, its list at ``path``."""
    views: dict[str, tuple[str, Callable[..., AnyResponse]]] = {
        place.endpoint.rpartition(".")[2]: ("", show_list),
        "news": ("/news", show_news),
        "export": ("/export.<form>", export),
        "entry": ("/<entry_id>", show_entry),
    }
    for name, (rest, view) in views.items():
        target.add_url_rule(path + rest, name, view, defaults={"place": place})


def show_list(place: Place) -> AnyResponse:
    """The list; for htmx only the results. Raises :class:`NoPage` if the service has no logs."""
    query = LogsQuery.of_request()
    if not place.of_project:
        query = query.model_copy(update={"user": ""})
    refused, logs = "", LogPage()
    try:
        logs = _read(place, query)
    except Invalid as error:
        refused = error.message
    news, may_audit = News.of(place, query, logs), audit.offered()
    context = {**_context(place, query, logs), "refused": refused, "news": news, "may_audit": may_audit}
    return page("dashboard/logs/index.html", "dashboard/logs/_results.html", url=query.url(), **context)


def show_entry(place: Place, entry_id: str) -> AnyResponse:
    """One entry: for htmx what its row opens, else its page. Raises :class:`NotFound`."""
    entry = place.client().entry(entry_id)
    context = {**_words(place), "entry": entry, **log_entry.opened(entry, place.url, of_project=place.of_project)}
    return page("dashboard/logs/show.html", "dashboard/logs/_entry.html", **context)


@dataclass(frozen=True, slots=True)
class News:
    """Where the page asks for what is new, and how many entries there are; ``words`` is "" while there are none."""

    url: str
    list_url: str
    words: str = ""

    @classmethod
    def of(cls, place: Place, query: LogsQuery, logs: LogPage) -> "News | None":
        """What the page asks that shows ``logs``; older pages and single entries have no news."""
        if query.after or query.id:
            return None
        newest = logs.data[0].id if logs.data else ""
        filters = query.query_string().removeprefix("?")
        url = f"{place.url('news')}?{urlencode({'newest': newest})}{'&' if filters else ''}{filters}"
        return cls(url, place.url() + query.query_string())


def show_news(place: Place) -> AnyResponse:
    """204 while nothing is new; else the pill."""
    query = LogsQuery.of_request()
    logs = place.client().page(query.filters(), limit=MOST_NEWS)
    newest = request.args.get("newest", "")
    known = [entry.id for entry in logs.data] if logs else []
    count = known.index(newest) if newest in known else len(known)
    if not count or str(count) == request.args.get("shown"):
        return Response(status=204)
    exactly = ngettext("{count} new entry", "{count} new entries", count)
    words = gettext("{count} or more new entries") if count == MOST_NEWS else exactly
    news = News(
        f"{request.script_root}{request.path}?{urlencode({**request.args.to_dict(), 'shown': count})}",
        place.url() + query.query_string(after=""),
        words.format(count=count),
    )
    return Response(fragment("dashboard/logs/_news.html", news=news))


def export(place: Place, form: str) -> AnyResponse:
    """What the filters leave, newest first and at most :data:`MOST_EXPORTED`, as CSV or as lines of JSON.

    Raises :class:`NoPage` for another form.
    """
    if form not in ("csv", "jsonl"):
        raise NoPage
    query = LogsQuery.of_request()
    entries = place.client().every(query.filters(), most=MOST_EXPORTED)
    first = next(entries, None)  # a refusal is a page, rather than a file that ends
    lines = _csv_lines if form == "csv" else _json_lines
    body = stream_with_context(lines(_again(first, entries)))
    response = Response(body, mimetype="text/csv" if form == "csv" else "application/x-ndjson")
    response.headers.set("Content-Disposition", "attachment", filename=f"logs.{form}")
    return response


def _again(first: LogEntry | None, rest: Iterator[LogEntry]) -> Iterator[LogEntry]:
    if first is not None:
        yield first
        yield from rest


def _csv_lines(entries: Iterator[LogEntry]) -> Iterator[str]:
    """RFC 4180; a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    yield ",".join(_heading(column) for column in COLUMNS) + "\r\n"
    for entry in entries:
        line = io.StringIO()
        cells = (getattr(entry, column) for column in COLUMNS)
        csv.writer(line).writerow("" if cell is None else _harmless(str(cell)) for cell in cells)
        yield line.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _json_lines(entries: Iterator[LogEntry]) -> Iterator[str]:
    for entry in entries:
        facts = {_heading(column): getattr(entry, column) or None for column in COLUMNS}
        yield json.dumps(facts | {"took_ms": entry.took_ms}, ensure_ascii=False) + "\n"


def _heading(column: str) -> str:
    return "external_user_id" if column == "user" else column


def _read(place: Place, query: LogsQuery) -> LogPage:
    """The page of the list. Raises :class:`NoPage` if the service has no logs."""
    client, filters = place.client(), query.filters()
    logs = read_from(query.after, lambda after: client.page(filters, limit=PER_PAGE, after=after))
    if logs is None:
        raise NoPage
    return logs


def _context(place: Place, query: LogsQuery, logs: LogPage) -> dict[str, Any]:
    app_names = _app_names({entry.app for entry in logs.data} | {query.app})
    subjects = _subjects(logs)
    return {
        **_words(place),
        "query": query,
        "entries": [(entry, _about(place, entry, subjects, app_names)) for entry in logs.data],
        "counts": {kind: f"{COUNTED - 1}+" if count >= COUNTED else count for kind, count in logs.counts.items()},
        "end_cursor": logs.page_info.end_cursor,
        "app_names": app_names,
        "statuses": STATUSES,
        "periods": PERIODS,
    }


def _about(place: Place, entry: LogEntry, subjects: Mapping[str, str], app_names: Mapping[str, str]) -> str:
    """Which app, account or trigger, agent and user an entry concerns, in one line."""
    subject = subjects.get(entry.trigger_id) or subjects.get(entry.account_id, "")
    if not subject and entry.kind == "account" and not place.of_project:
        subject = gettext("Deleted trigger") if entry.trigger_id else gettext("No longer connected")
    user = entry.user if place.of_project else ""
    parts = (app_names.get(entry.app, entry.app), subject, entry.agent, user)
    return " · ".join(dict.fromkeys(part for part in parts if part and part != entry.title))


def _subjects(logs: LogPage) -> dict[str, str]:
    """What accounts and triggers of the entries are called, by their ids, as far as they are there and the person's."""
    accounts = if_up(known_accounts) if any(entry.account_id for entry in logs.data) else None
    triggers = if_up(known_triggers) if any(entry.trigger_id for entry in logs.data) else None
    names = {account.id: account.title for account in accounts.accounts} if accounts else {}
    return names | ({trigger.id: trigger.title for trigger in triggers.items} if triggers else {})


def _words(place: Place) -> dict[str, Any]:
    of_entry = {"title_of": log_entry.title_of, "outcome_of": log_entry.outcome_of, "tone_of": log_entry.tone_of}
    return {"place": place, "kinds": KINDS, **of_entry}


def _app_names(shown: set[str]) -> dict[str, str]:
    """The names, by slug, of apps with an account and of those on the page, by name."""
    overview = if_up(known_accounts)
    names = dict(overview.apps()) if overview else {}
    for slug in shown:
        if slug and slug not in names:
            names[slug] = _app_name(slug)
    return dict(sorted(names.items(), key=lambda item: item[1].lower()))


def _app_name(slug: str) -> str:
    """The name of an app, if a page has read it already."""
    return dashboard().app_names.get(slug) or slugs.words(slug)


add_views(blueprint, OWN, "/logs")


@blueprint.get("/activity")
def activity() -> AnyResponse:
    """The page that this one replaced: what happened to accounts and triggers is one kind of the logs."""
    account, app = request.args.get("account", ""), request.args.get("app", "")
    return redirect(OWN.url(kind="account", app=app or None, id=account or None), 301)
