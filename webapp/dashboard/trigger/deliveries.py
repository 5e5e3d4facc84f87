"""Sending deliveries of a trigger again: one, or all that failed since a time. Their list is a view of the logs."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import Blueprint, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import logs
from webapp.dashboard.client.models.deliveries import Delivery
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.logs import local_time, ms_of, written, zone
from webapp.dashboard.pages import fragment, go, say, wants_fragment
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.trigger.trigger import place_of
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.errors import Invalid, NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.clock import DAY, HOUR
from webapp.kit.translation import count_of, gettext
from webapp.kit.translation import lazy as _

blueprint = Blueprint("deliveries", __name__, url_prefix="/triggers/<trigger_id>/deliveries")

PERIODS: Mapping[str, int] = {_("1 h"): HOUR, _("24 h"): DAY, _("7 d"): 7 * DAY}


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
    return _resent(trigger_id, sent)


@blueprint.get("/resending")
def resending_page(trigger_id: str) -> AnyResponse:
    """Everything that failed since a time: how many that is, before it is sent again."""
    trigger = client().find(trigger_id)
    now = dashboard().clock()
    since = local_time(request.args.get("since", "")) or written(now - DAY)
    periods = [(label, written(now - length)) for label, length in PERIODS.items()]
    count = client().resend_failed(trigger_id, since=ms_of(since), dry_run=True)
    stopped = [endpoint for endpoint in client().endpoints(trigger_id) if endpoint.state == "deactivated"]
    return make_response(render_template(
        "dashboard/trigger/resending.html", trigger=trigger, since=since, periods=periods, count=count, stopped=stopped,
        zone_name=str(zone()), **template_helpers(),
    ))  # fmt: skip


@blueprint.post("/resending")
def resend_failed(trigger_id: str) -> AnyResponse:
    """Send all of that again."""
    since = local_time(request.form.get("since", ""))
    if not since:
        raise Invalid(gettext("Enter a start time."))
    count = client().resend_failed(trigger_id, since=ms_of(since), dry_run=False)
    flash(count_of(count, "{count} delivery will be sent again.", "{count} deliveries will be sent again."), "ok")
    return go(url_for("dashboard.trigger.show", trigger_id=trigger_id, tab="deliveries"))


def _resent(trigger_id: str, delivery: Delivery) -> AnyResponse:
    """The outcome, and the row of the delivery as it is now."""
    host = urlsplit(delivery.url).hostname or gettext("its address")
    sentence = gettext("It is on its way to {host} again.").format(host=host)
    if not wants_fragment():
        return say(sentence, "ok", page_before())
    place = place_of(client().find(trigger_id), "deliveries")
    context = {"sentence": sentence, **logs.row_context(place, delivery.id)}
    return make_response(fragment("dashboard/trigger/_resent.html", **context))
