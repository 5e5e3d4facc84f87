"""The deliveries of a trigger: filtered by status and time, one in full, and sending again."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from flask import Blueprint, flash, make_response, render_template, request, url_for
from pydantic import AfterValidator
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.deliveries import Delivery
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.gate import chosen
from webapp.dashboard.pages import (
    ListQuery,
    among,
    at_most,
    fragment,
    go,
    read_from,
    say,
    wants_fragment,
)
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger import news as trigger_news
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.dashboard.words import DELIVERIES
from webapp.errors import Invalid, NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.clock import DAY, HOUR
from webapp.kit.translation import count_of, gettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("deliveries", __name__, url_prefix="/triggers/<trigger_id>/deliveries")

PER_PAGE = 20
PERIODS: Mapping[str, tuple[str, int]] = {"1h": (_("1 h"), HOUR), "24h": (_("24 h"), DAY), "7d": (_("7 d"), 7 * DAY)}
_LOCAL = "%Y-%m-%dT%H:%M"  # what <input type=datetime-local> sends


def _time(text: str) -> str:
    """A local time of a form, or "" for a malformed one."""
    try:
        time = datetime.strptime(text[:16], _LOCAL).replace(tzinfo=UTC)
    except ValueError:
        return ""
    return time.strftime(_LOCAL) if 2000 <= time.year < 3000 else ""


class DeliveriesQuery(ListQuery):
    """Which deliveries, and from where on. Times are written in the person's zone."""

    status: Annotated[str, among(DELIVERIES)] = ""
    period: Annotated[str, among(PERIODS)] = ""
    since: Annotated[str, AfterValidator(_time)] = ""
    until: Annotated[str, AfterValidator(_time)] = ""
    event: Annotated[str, at_most(100)] = ""
    after: Annotated[str, at_most(1_000)] = ""

    def filters(self) -> dict[str, str | int]:
        """The same as the API takes it."""
        return {
            "status": self.status,
            "since": self._first(),
            "until": _ms(self.until) if self.until else "",
            "event_id": self.event,
        }

    def _first(self) -> int | str:
        """The earlier bound of the time; dates that were entered count rather than a period."""
        if self.since or self.until:
            return _ms(self.since) if self.since else ""
        return dashboard().clock() - PERIODS[self.period][1] if self.period else ""


@blueprint.get("")
def index(trigger_id: str) -> AnyResponse:
    """The list; for htmx only the results."""
    query = DeliveriesQuery.of_request()
    frame = frames.load(trigger_id, deliveries=PER_PAGE if query == DeliveriesQuery() else 0)
    deliveries = frame.deliveries or _read(trigger_id, query)
    if deliveries is None:
        raise NoPage
    url = query.url()
    news = None if query.after else trigger_news.since(frame, "deliveries", deliveries.items, rows_url=url)
    context: dict[str, Any] = {
        "deliveries": deliveries,
        "query": query,
        "news": news,
        "zone_name": str(_zone()),
        "periods": PERIODS,
    }
    return frames.tab_page(frame, "deliveries", "_deliveries.html", url=url, **context)


@blueprint.get("/<delivery_id>")
def show(trigger_id: str, delivery_id: str) -> AnyResponse:
    """One delivery: its request and all responses."""
    frame, delivery = frames.load(trigger_id), client().delivery(trigger_id, delivery_id)
    return frames.tab_page(frame, "deliveries", "_delivery.html", delivery=delivery)


@blueprint.post("/<delivery_id>/resend")
def resend(trigger_id: str, delivery_id: str) -> AnyResponse:
    """Send one again now: the same event id, signed with the key as it is today."""
    try:
        sent = client().resend(trigger_id, delivery_id)
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        sentence = gettext("It was not sent again. {reason}").format(reason=error.message)
        return say(sentence, "bad", page_before())
    return _resent(sent)


@blueprint.get("/resending")
def resending_page(trigger_id: str) -> AnyResponse:
    """Everything that failed since a time: how many that is, before it is sent again."""
    trigger = client().find(trigger_id)
    now = dashboard().clock()
    since = _time(request.args.get("since", "")) or _written(now - DAY)
    periods = [(label, _written(now - length)) for label, length in PERIODS.values()]
    count = client().resend_failed(trigger_id, since=_ms(since), dry_run=True)
    stopped = [endpoint for endpoint in client().endpoints(trigger_id) if endpoint.state == "deactivated"]
    return make_response(render_template(
        "dashboard/trigger/resending.html", trigger=trigger, since=since, periods=periods, count=count, stopped=stopped,
        zone_name=str(_zone()), **template_helpers(),
    ))  # fmt: skip


@blueprint.post("/resending")
def resend_failed(trigger_id: str) -> AnyResponse:
    """Send all of that again."""
    since = _time(request.form.get("since", ""))
    if not since:
        raise Invalid(gettext("Enter a start time."))
    count = client().resend_failed(trigger_id, since=_ms(since), dry_run=False)
    flash(count_of(count, "{count} delivery will be sent again.", "{count} deliveries will be sent again."), "ok")
    return go(url_for("dashboard.deliveries.index", trigger_id=trigger_id))


def _resent(delivery: Delivery) -> AnyResponse:
    """The outcome, and the row of the delivery as it is now."""
    host = urlsplit(delivery.url).hostname or gettext("its address")
    sentence = gettext("It is on its way to {host} again.").format(host=host)
    if not wants_fragment():
        return say(sentence, "ok", page_before())
    context = {"delivery": delivery, "sentence": sentence, **template_helpers()}
    return make_response(fragment("dashboard/trigger/_resent.html", **context))


def rows_at(trigger_id: str, url: str) -> list[Delivery]:
    """The deliveries of a list's query."""
    query = {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()}
    deliveries = _read(trigger_id, DeliveriesQuery.model_validate(query))
    if deliveries is None:
        raise NoPage
    return list(deliveries.items)


def _read(trigger_id: str, query: DeliveriesQuery) -> PageOf[Delivery] | None:
    """One page."""
    filters = query.filters()
    return read_from(
        query.after, lambda after: client().deliveries(trigger_id, filters | {"after": after}, limit=PER_PAGE)
    )


def _zone() -> ZoneInfo:
    return ZoneInfo(chosen().time_zone or "UTC")


def _ms(text: str) -> int:
    """Epoch milliseconds of a local time that :func:`_time` accepted."""
    at = datetime.strptime(text, _LOCAL).replace(tzinfo=_zone())
    return (at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _written(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, _zone()).strftime(_LOCAL)
