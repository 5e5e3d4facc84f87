"""Logs: everything that happened to a person, newest first, with filters in the address.

A row opens what was asked, what came back, what that means, what to do next, and code that does it again. New rows are
announced in a pill and never move the page; rows that are there say how they are now. Consecutive polls of a trigger
that found nothing are one row. The list can be saved as CSV and as JSON lines.

Every other page that lists such entries shows a view of these: a :class:`Place` says whose they are and about what.
Build has the whole project's (:mod:`webapp.dashboard.build.logs`) and its calls of the API, a trigger its own, an
action its runs.
"""

import csv
import io
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Annotated, Any
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, g, redirect, request, stream_with_context
from pydantic import AfterValidator
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import audit, log_entry, words
from webapp.dashboard.client.logs import LogClient, LogReader, every
from webapp.dashboard.client.models.logs import LogEntry, LogPage
from webapp.dashboard.dashboard import app_of, dashboard, if_up, known_accounts, known_triggers, viewer
from webapp.dashboard.dashboard import logs as own_logs
from webapp.dashboard.log_entry import KINDS, STATUSES
from webapp.dashboard.pages import ListQuery, address, among, at_most, fragment, page, read_from
from webapp.dashboard.shell import clock, when
from webapp.errors import Invalid, NotFound, PatchbayError
from webapp.kit import slugs
from webapp.kit.clock import DAY, HOUR
from webapp.kit.crypto import hash_token
from webapp.kit.translation import Moment, gettext, ngettext
from webapp.kit.translation import lazy as _
from webapp.people.preferences import Preferences

blueprint = Blueprint("logs", __name__)

PER_PAGE = 50
MOST_NEWS = 30
FEWEST_QUIET = 3
MOST_EXPORTED = 10_000
COUNTED = 50  # from so many on, the service says no more
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
_LOCAL = "%Y-%m-%dT%H:%M"  # what <input type=datetime-local> sends


def local_time(text: str) -> str:
    """A local time of a form, or "" for a malformed one."""
    try:
        time = datetime.strptime(text[:16], _LOCAL).replace(tzinfo=UTC)
    except ValueError:
        return ""
    return time.strftime(_LOCAL) if 2000 <= time.year < 3000 else ""


def zone() -> ZoneInfo:
    """The person's time zone, in which they write times; a portal knows none."""
    preferences: Preferences | None = g.get("preferences")
    return ZoneInfo((preferences.time_zone if preferences else "") or "UTC")


def ms_of(text: str) -> int:
    """Epoch milliseconds of a local time that :func:`local_time` accepted."""
    at = datetime.strptime(text, _LOCAL).replace(tzinfo=zone())
    return (at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def written(ms: int) -> str:
    """The local time of epoch milliseconds, as a form has it."""
    return datetime.fromtimestamp(ms / 1000, zone()).strftime(_LOCAL)


class LogsQuery(ListQuery):
    """The filters of the list. Times are in the person's zone. ``after`` is the API's cursor."""

    kind: Annotated[str, among(KINDS)] = ""
    status: Annotated[str, among(STATUSES)] = ""
    app: Annotated[str, at_most(100)] = ""
    user: Annotated[str, at_most(250)] = ""
    period: Annotated[str, among(PERIODS)] = ""
    since: Annotated[str, AfterValidator(local_time)] = ""
    until: Annotated[str, AfterValidator(local_time)] = ""
    id: Annotated[str, at_most(200)] = ""
    after: Annotated[str, at_most(1_000)] = ""

    def filters(self) -> dict[str, str | int]:
        """The filters as parameters of the API."""
        return {
            "kind": self.kind,
            "status": self.status,
            "app": self.app,
            "external_user_id": self.user.strip(),
            "since": self._first(),
            "until": ms_of(self.until) if self.until else "",
            "id": self.id.strip(),
        }

    def _first(self) -> int:
        """The earlier bound of the time; dates that were entered count rather than a period."""
        if self.since or self.until:
            return ms_of(self.since) if self.since else 0
        since = dashboard().clock() - PERIODS[self.period][1] if self.period else 0
        return since // 60_000 * 60_000  # the same for a minute: a cursor is of one filter


@dataclass(frozen=True, slots=True)
class Place:
    """Where logs are shown. They are a person's own, or with ``of_project`` the project's.

    ``endpoint`` is the route of the list, with ``values``; the routes of an entry and of news have the same values and
    names below ``beside``, and that of an entry ends with its id. ``about`` are filters of the API that hold for
    everything there, so that no address repeats them, and ``shown_above`` what the page says above the list, so that no
    row does. A list without entries says ``empty``, a heading and a sentence. ``crumbs`` lead back from the page of an
    entry, if not only to the list.
    """

    endpoint: str
    of_project: bool = False
    beside: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, str | bool] = field(default_factory=dict)
    shown_above: Collection[str] = ()
    empty: tuple[str, str] = ("", "")
    per_page: int = PER_PAGE
    reader: LogReader | None = None
    crumbs: Sequence[Mapping[str, str]] = ()

    def client(self) -> LogReader:
        """What reads them."""
        if self.reader is not None:
            return self.reader
        return LogClient(viewer().client) if self.of_project else own_logs()

    def url(self, view: str = "", **values: Any) -> str:
        """The address of the list, or of another view of it."""
        endpoint = f"{self.beside or self.endpoint.rpartition('.')[0]}.{view}" if view else self.endpoint
        return address(endpoint, **self.values, **values)

    def page(self, query: LogsQuery, *, limit: int, after: str = "") -> LogPage | None:
        """A page of what ``query`` selects here; ``None`` if the service has no logs."""
        return self.client().page({**query.filters(), **self.about}, limit=limit, after=after)

    @property
    def kind(self) -> str:
        """The kind of all its entries; "" if they are of several."""
        return str(self.about.get("kind", ""))


OWN = Place("dashboard.logs.index")
PROJECT = Place("dashboard.build_logs.page", of_project=True)


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
    context = {**listing(place, query), "may_audit": audit.offered()}
    return page("dashboard/logs/index.html", "dashboard/logs/_results.html", url=query.url(), **context)


def listing(place: Place, query: LogsQuery, known: LogPage | None = None) -> dict[str, Any]:
    """The context of the list of a place, for ``dashboard/logs/_results.html``; it is read unless it is ``known``.

    Raises :class:`NoPage` if the service has no logs.
    """
    refused, logs = "", LogPage()
    try:
        logs = known or _read(place, query)
    except Invalid as error:
        refused = error.message
    return {**_context(place, query, logs), "refused": refused, "news": News.of(place, query, logs)}


def show_entry(place: Place, entry_id: str) -> AnyResponse:
    """One entry: for htmx what its row opens, else its page. Raises :class:`NotFound`."""
    context = entry_context(place, place.client().entry(entry_id))
    return page("dashboard/logs/show.html", "dashboard/logs/_entry.html", **context)


def entry_context(place: Place, entry: LogEntry) -> dict[str, Any]:
    """The context of ``entry``, opened, with the deliveries of an event as rows below."""
    sent = None
    if entry.kind == "event":
        sent = place.client().page({"id": entry.id, "kind": "delivery"}, limit=log_entry.MOST_SENT)
    row, *rows = _rows(place, (entry, *(sent.data if sent else ())), _app_names({entry.app}))
    whole = OWN if not place.of_project else PROJECT
    return {
        **_words(place),
        "entry": entry,
        "row": row,
        "sent": rows,
        **log_entry.opened(entry, whole.url, of_project=place.of_project),
    }


@dataclass(frozen=True, slots=True)
class News:
    """Where the page asks for what is new, and how many entries there are; ``words`` is "" while there are none.

    ``changed`` are rows that the page shows and that may have changed since.
    """

    url: str
    list_url: str
    words: str = ""
    changed: Sequence["Row"] = ()

    @classmethod
    def of(cls, place: Place, query: LogsQuery, logs: LogPage) -> "News | None":
        """What the page asks that shows ``logs``; older pages and single entries have no news."""
        if query.after or query.id:
            return None
        top = logs.data[0] if logs.data else None
        shown = [entry for entry in logs.data if not entry.quiet][:MOST_NEWS]
        known = {"newest": top.id if top else "", "at": top.at if top else "", "seen": _states(shown)}
        return cls(_news_url(place, query, known), place.url() + query.query_string())


def show_news(place: Place) -> AnyResponse:
    """204 while nothing is new; else the pill, and what the rows that are shown say now. Quiet polls are no news.

    The first entries of a list take the place of the notice that there are none, since nothing is read there that they
    would move.
    """
    try:
        return _news(place)
    except PatchbayError:
        return Response(status=204)  # the page stays as it is; the next question may be answered


def _news(place: Place) -> Response:
    query, newest, newest_at = LogsQuery.of_request(), request.args.get("newest", ""), request.args.get("at", "")
    about = {name: value for name, value in place.about.items() if name != "quiet"}
    logs = replace(place, about=about | {"counts": False}).page(query, limit=MOST_NEWS) or LogPage()
    if logs.data and not newest and not query.filtered:
        return Response(fragment("dashboard/logs/_first_entries.html", **listing(place, query)))
    older = (number for number, each in enumerate(logs.data) if each.id == newest or each.at < newest_at)
    count = next(older, len(logs.data))
    known, shown = logs.data[count:], request.args.get("shown", "0")
    seen = _states(known)
    if str(count) == shown and (seen == request.args.get("seen") or not known):
        return Response(status=204)
    exactly = ngettext("{count} new entry", "{count} new entries", count)
    sentence = gettext("{count} or more new entries") if count == MOST_NEWS else exactly
    news = News(
        _news_url(place, query, {"newest": newest, "at": newest_at, "seen": seen, "shown": str(count)}),
        place.url() + query.query_string(after=""),
        sentence.format(count=count) if count else "",
        _rows(place, known, _app_names({entry.app for entry in known})),
    )
    return Response(
        fragment("dashboard/logs/_news_changed.html", **_words(place), news=news, moved=str(count) != shown)
    )


def _news_url(place: Place, query: LogsQuery, known: Mapping[str, str]) -> str:
    filters = query.query_string(after="").removeprefix("?")
    return f"{place.url('news')}?{urlencode(known)}{'&' if filters else ''}{filters}"


def _states(entries: Sequence[LogEntry]) -> str:
    """Changes whenever a row of ``entries`` says something else."""
    facts = [(each.id, each.status, each.outcome, each.attempt, each.next_attempt_at) for each in entries]
    return hash_token(repr(facts))[:16]


def export(place: Place, form: str) -> AnyResponse:
    """What the filters leave, newest first and at most :data:`MOST_EXPORTED`, as CSV or as lines of JSON.

    Raises :class:`NoPage` for another form.
    """
    if form not in ("csv", "jsonl"):
        raise NoPage
    query = LogsQuery.of_request()
    entries = every(place.client(), query.filters(), most=MOST_EXPORTED)
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
    logs = read_from(query.after, lambda after: place.page(query, limit=place.per_page, after=after))
    if logs is None:
        raise NoPage
    return logs


def _context(place: Place, query: LogsQuery, logs: LogPage) -> dict[str, Any]:
    app_names = _app_names({entry.app for entry in logs.data} | {query.app})
    return {
        **_words(place),
        "query": query,
        "groups": folded(_rows(place, logs.data, app_names)),
        "filterable": logs.filterable,
        "shown": len(logs.data),
        "zone_name": str(zone()),
        "counts": {kind: f"{COUNTED}+" if count >= COUNTED else count for kind, count in logs.counts.items()},
        "end_cursor": logs.page_info.end_cursor,
        "app_names": app_names,
        "statuses": STATUSES,
        "periods": PERIODS,
    }


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as a row: what it is about, in a line below what came of it and whom it concerns, its page, and when."""

    entry: LogEntry
    title: str
    about: str
    url: str
    at: Moment | None

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return log_entry.kind_of(self.entry)

    @property
    def outcome(self) -> str:
        """How it ended, in a word."""
        return log_entry.outcome_of(self.entry)

    @property
    def tone(self) -> str:
        """The tone of that word."""
        return log_entry.tone_of(self.entry)

    @property
    def took(self) -> str:
        """How long it took, if that is known."""
        took_ms = self.entry.took_ms
        return "" if took_ms is None else gettext("%(ms)s ms") % {"ms": f"{took_ms:,}"}


def folded(rows: Sequence[Row]) -> list[tuple[bool, tuple[Row, ...]]]:
    """``rows`` in groups, and whether each is shown as one row.

    These are :data:`FEWEST_QUIET` or more consecutive polls of one trigger that found nothing.
    """
    groups = groupby(rows, lambda row: row.entry.trigger_id if row.entry.quiet else "")
    consecutive = [(trigger_id, tuple(group)) for trigger_id, group in groups]
    return [(bool(trigger_id) and len(group) >= FEWEST_QUIET, group) for trigger_id, group in consecutive]


def _rows(place: Place, entries: Collection[LogEntry], app_names: Mapping[str, str]) -> list[Row]:
    subjects, url, at = _subjects(entries), place.url("entry", entry_id=""), clock()
    return [
        _row(place, entry, subjects, app_names, url + quote(entry.id, safe=""), when(at, entry.at)) for entry in entries
    ]


def row_context(place: Place, entry_id: str) -> dict[str, Any]:
    """The context of the row of one entry as it is now; none if it is not there any more."""
    try:
        entry = place.client().entry(entry_id)
    except NotFound:
        return {"row": None}
    (row,) = _rows(place, (entry,), _app_names({entry.app}))
    return {"row": row, **_words(place)}


def _row(
    place: Place,
    entry: LogEntry,
    subjects: Mapping[str, str],
    app_names: Mapping[str, str],
    url: str,
    at: Moment | None,
) -> Row:
    """What an entry is about, what came of it, and which app, account or trigger, agent and user it concerns."""
    subject = subjects.get(entry.trigger_id) or subjects.get(entry.account_id, "")
    if not subject and entry.kind == "account" and not place.of_project and not place.about:
        subject = gettext("Deleted trigger") if entry.trigger_id else gettext("No longer connected")
    user = _user_of(entry) if place.of_project else ""
    what = (log_entry.title_of(entry), log_entry.cause_of(entry), log_entry.came_of(entry))
    parts = dict.fromkeys((*what, app_names.get(entry.app, entry.app), subject, entry.agent, user))
    repeated = {"", *place.shown_above}
    title, *about = [part for part in parts if part not in repeated] or [log_entry.outcome_of(entry)]
    return Row(entry, title, " · ".join(part for part in about if part != entry.title), url, at)


def _user_of(entry: LogEntry) -> str:
    return gettext("You") if entry.user == viewer().external_user_id else entry.user


def _subjects(entries: Collection[LogEntry]) -> dict[str, str]:
    """What accounts and triggers of the entries are called, by their ids, as far as they are there and the person's."""
    accounts = if_up(known_accounts) if any(entry.account_id for entry in entries) else None
    triggers = if_up(known_triggers) if any(entry.trigger_id for entry in entries) else None
    names = {account.id: account.title for account in accounts.accounts} if accounts else {}
    return names | ({trigger.id: trigger.title for trigger in triggers.items} if triggers else {})


def _words(place: Place) -> dict[str, Any]:
    return {"place": place, "kinds": KINDS, "words": words}


def _app_names(shown: set[str]) -> dict[str, str]:
    """The names, by slug, of apps with an account and of those on the page, by name."""
    overview = if_up(known_accounts)
    names = dict(overview.apps()) if overview else {}
    for slug in shown:
        if slug and slug not in names:
            names[slug] = _app_name(slug)
    return dict(sorted(names.items(), key=lambda item: item[1].lower()))


def _app_name(slug: str) -> str:
    """The name of an app; of one that is unknown or unavailable, words made of its slug."""
    known = dashboard().app_names.get(slug)
    if known:
        return known
    app = app_of(slug)
    return app.name if app else slugs.words(slug)


add_views(blueprint, OWN, "/logs")


@blueprint.get("/activity")
def activity() -> AnyResponse:
    """The page that this one replaced: what happened to accounts and triggers is one kind of the logs."""
    account, app = request.args.get("account", ""), request.args.get("app", "")
    return redirect(OWN.url(kind="account", app=app or None, id=account or None), 301)
