"""The deliveries of a trigger: filtered by status and time, one of them whole, and sending again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from zoneinfo import ZoneInfo

from flask import Blueprint, flash, make_response, render_template, request, url_for
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import security, words
from webapp.dashboard.client.models.deliveries import Delivery
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import chosen, dashboard
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.htmx import fragment, go, wants_fragment
from webapp.dashboard.trigger import frame as trigger_frame
from webapp.dashboard.trigger import news as trigger_news
from webapp.dashboard.trigger.index import drawn_with
from webapp.errors import Invalid, NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.clock import DAY
from webapp.kit.translation import gettext

blueprint = Blueprint("deliveries", __name__, url_prefix="/triggers/<trigger_id>/deliveries")

PER_PAGE = 30
_LOCAL = "%Y-%m-%dT%H:%M"  # what <input type=datetime-local> sends


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address says: which deliveries, and from where on. Times are written in the person's zone."""

    status: str = ""
    since: str = ""
    until: str = ""
    event: str = ""
    after: str = ""

    @classmethod
    def of(cls, given: Any) -> "Wanted":
        """Read a query; what makes no sense falls back to the default."""
        return cls(
            status=given.get("status", "") if given.get("status") in words.DELIVERIES else "",
            since=_time(given.get("since", "")),
            until=_time(given.get("until", "")),
            event=given.get("event", "")[:100],
            after=given.get("after", "")[:1_000],
        )

    @property
    def filtered(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.status or self.since or self.until or self.event)

    def query(self) -> dict[str, str | int]:
        """The same as the API takes it."""
        return {
            "status": self.status,
            "since": _ms(self.since) if self.since else "",
            "until": _ms(self.until) if self.until else "",
            "event_id": self.event,
            "after": self.after,
        }

    def parts(self, **changes: str) -> str:
        """The query of this list's address with ``changes``; defaults are left out of it."""
        own = {"status": self.status, "since": self.since, "until": self.until, "event": self.event}
        found = urlencode({name: value for name, value in (own | {"after": self.after} | changes).items() if value})
        return f"?{found}" if found else ""


@blueprint.get("")
def index(trigger_id: str) -> AnyResponse:
    """The list; for htmx the list alone."""
    frame, wanted = trigger_frame.look(trigger_id), Wanted.of(request.args)
    found = _read(trigger_id, wanted)
    if found is None:
        raise NoPage
    url = request.path + wanted.parts()
    news = None if wanted.after else trigger_news.since(frame, "deliveries", found.items, rows_url=url)
    context: dict[str, Any] = {"found": found, "wanted": wanted, "news": news, "zone_name": str(_zone())}
    return trigger_frame.shown(frame, "deliveries", "_deliveries.html", url=url, **context)


@blueprint.get("/<delivery_id>")
def show(trigger_id: str, delivery_id: str) -> AnyResponse:
    """One delivery: what was sent, and every answer."""
    frame = trigger_frame.look(trigger_id)
    return trigger_frame.shown(
        frame, "deliveries", "_delivery.html", delivery=client().delivery(trigger_id, delivery_id)
    )


@blueprint.post("/<delivery_id>/resend")
def resend(trigger_id: str, delivery_id: str) -> AnyResponse:
    """Send one again now: the same event id, signed with the key as it is today."""
    try:
        sent = client().resend(trigger_id, delivery_id)
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        sentence = gettext("It was not sent again. {reason}").format(reason=error.message)
        return _said(trigger_id, sentence, "bad")
    host = urlsplit(sent.url).hostname
    sentence = (
        gettext("It is on its way to {host} again.") if host else gettext("It is on its way to its address again.")
    )
    return _said(trigger_id, sentence.format(host=host), "ok")


@blueprint.get("/resending")
def resending_page(trigger_id: str) -> AnyResponse:
    """Everything that failed since a time: how many that is, before it is sent again."""
    trigger = client().find(trigger_id)
    since = _time(request.args.get("since", "")) or _written(dashboard().clock() - DAY)
    count = client().resend_failed(trigger_id, since=_ms(since), dry_run=True)
    stopped = [one for one in client().endpoints(trigger_id) if one.state == "deactivated"]
    return make_response(render_template(
        "dashboard/trigger/resending.html", trigger=trigger, since=since, count=count, stopped=stopped,
        zone_name=str(_zone()), **drawn_with(),
    ))  # fmt: skip


@blueprint.post("/resending")
def resend_failed(trigger_id: str) -> AnyResponse:
    """Send all of that again."""
    since = _time(request.form.get("since", ""))
    if not since:
        raise Invalid(gettext("Say since when."))
    count = client().resend_failed(trigger_id, since=_ms(since), dry_run=False)
    said = words.count_of(count, "{count} delivery will be sent again.", "{count} deliveries will be sent again.")
    flash(said, "ok")
    return go(url_for("dashboard.deliveries.index", trigger_id=trigger_id))


def rows_at(trigger_id: str, url: str) -> list[Delivery]:
    """The deliveries that a list's address stands for."""
    query = {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()}
    found = _read(trigger_id, Wanted.of(query))
    if found is None:
        raise NoPage
    return list(found.items)


def _read(trigger_id: str, wanted: Wanted) -> PageOf[Delivery] | None:
    """One page; a cursor that is broken or of another list leads to the first one."""
    try:
        return client().deliveries(trigger_id, wanted.query(), limit=PER_PAGE)
    except Invalid:
        if not wanted.after:
            raise
        return client().deliveries(trigger_id, wanted.query() | {"after": ""}, limit=PER_PAGE)


def _said(trigger_id: str, sentence: str, tone: str) -> AnyResponse:
    if wants_fragment():
        return make_response(fragment("dashboard/trigger/_said.html", said=sentence, tone=tone))
    flash(sentence, tone)
    return go(security.page_before())


def _zone() -> ZoneInfo:
    return ZoneInfo(chosen().time_zone or "UTC")


def _time(text: str) -> str:
    """A local time as a form writes it, or "" for what is none."""
    try:
        found = datetime.strptime(text[:16], _LOCAL).replace(tzinfo=UTC)
    except ValueError:
        return ""
    return found.strftime(_LOCAL) if 2000 <= found.year < 3000 else ""


def _ms(text: str) -> int:
    """Epoch milliseconds of a local time that :func:`_time` accepted."""
    at = datetime.strptime(text, _LOCAL).replace(tzinfo=_zone())
    return (at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _written(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, _zone()).strftime(_LOCAL)
