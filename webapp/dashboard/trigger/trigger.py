"""The page of a trigger: its lists and configuration, a test event, and pausing, updating and deleting it.

Its events, its deliveries and all else that happened are views of the logs (:mod:`webapp.dashboard.logs`). A trigger
stays on the version of its component that it was deployed with until a person moves it to another. Deleting it asks
first; when its subscription at the app cannot be removed, the page says so and offers to delete it anyway. Sending
deliveries again and webhook URLs have modules of their own.
"""

import json
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import logs
from webapp.dashboard.client.models import components
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.component.prop_values import control, schedule_in_words
from webapp.dashboard.dashboard import app_of, forget_triggers
from webapp.dashboard.dashboard import logs as own_logs
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.logs import LogsQuery, Place
from webapp.dashboard.pages import address, fragment, go, say, wants_fragment
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger import news as trigger_news
from webapp.dashboard.trigger.frame import Frame
from webapp.dashboard.trigger.trigger_logs import TriggerLogs
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.errors import NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import count_of, gettext, lazy, pgettext, translated

blueprint = Blueprint("trigger", __name__, url_prefix="/triggers/<trigger_id>")
pausing = Blueprint("pausing", __name__, url_prefix="/triggers/<trigger_id>/pause")
moving = Blueprint("moving", __name__, url_prefix="/triggers/<trigger_id>/version")
deletion = Blueprint("deletion", __name__, url_prefix="/triggers/<trigger_id>/deletion")

# What a tab lists, as filters of the logs. Entries are counted where chips show how many there are of each kind.
LISTS: Mapping[str, Mapping[str, str | bool]] = {
    "events": {"kind": "event", "counts": False},
    "deliveries": {"kind": "delivery", "counts": False},
    "logs": {"quiet": True},
}
PER_PAGE = {"events": 25, "deliveries": 25, "logs": logs.PER_PAGE}
"""Entries on a page: there is more beside events and deliveries. Of the runs, most are folded."""
_EMPTY: Mapping[str, tuple[str, str]] = {
    "events": (lazy("No events yet"), lazy("New events appear here.")),
    "deliveries": (lazy("Nothing delivered yet"), lazy("Every delivery appears here, with the receiver’s answer.")),
    "logs": (lazy("No runs yet"), lazy("Each check for new data appears here.")),
}
# What the service says, with its advice at the end.
_NOT_DELETED = (
    "It was not deleted, because it could not be unsubscribed: {failure_sentence} "
    "Try again, or delete it with ignore_hook_errors=true."
)


@blueprint.get("", defaults={"tab": "events"})
@blueprint.get("/<any(deliveries, logs):tab>")
def show(trigger_id: str, tab: str) -> AnyResponse:
    """The page, at its events, its deliveries or its log; for htmx only the results."""
    query = LogsQuery.of_request()
    frame = frames.load(trigger_id, {} if query.filtered or query.after else {"logs": PER_PAGE[tab], **LISTS[tab]})
    context = logs.listing(place_of(frame.trigger, tab, frame), query, frame.logs)
    return frames.tab_page(
        frame, tab, "dashboard/trigger/_logs.html", swapped="dashboard/logs/_results.html", url=query.url(), **context
    )


@blueprint.get("/<any(events, deliveries, logs):tab>/<entry_id>")
def entry(trigger_id: str, tab: str, entry_id: str) -> AnyResponse:
    """One entry of a list: for htmx what its row opens, else its page."""
    return logs.show_entry(place_of(client().find(trigger_id), tab), entry_id)


@blueprint.get("/<any(events, deliveries, logs):tab>/news")
def news(trigger_id: str, tab: str) -> AnyResponse:
    """What is new in a list since the page was rendered; an open page polls every few seconds."""
    try:
        return logs.show_news(place_of(client().find(trigger_id), tab))
    except PatchbayError:
        return Response(status=204)  # the page says by its own poll that the trigger is gone


@blueprint.get("/events/<event_id>/payload.json")
def payload(trigger_id: str, event_id: str) -> AnyResponse:
    """The whole payload of an event, to be saved. Raises :class:`NotFound`."""
    body = _logs_of(client().find(trigger_id)).event(event_id).body
    response = Response(json.dumps(body, ensure_ascii=False, indent=2), mimetype="application/json")
    response.headers.set("Content-Disposition", "attachment", filename="payload.json")
    return response


def place_of(trigger: Trigger, tab: str, frame: Frame | None = None) -> Place:
    """The place of a list of a trigger. The ``frame`` of its page knows whether anything could be in it."""
    app, empty = app_of(trigger.app), _EMPTY[tab]
    if frame is not None and tab == "events" and trigger.state != "active":
        empty = (empty[0], gettext("No events arrive while it is not running."))
    if frame is not None and tab == "deliveries" and not frame.destinations:
        empty = (empty[0], gettext("Add a webhook URL to send events to."))
    page = address("dashboard.trigger.show", trigger_id=trigger.id)
    return Place(
        "dashboard.trigger.show",
        beside="dashboard.trigger",
        values={"trigger_id": trigger.id, "tab": tab},
        about={"id": trigger.id, **LISTS[tab]},
        shown_above=(trigger.title, trigger.name, app.name if app else trigger.app),
        empty=empty,
        per_page=PER_PAGE[tab],
        reader=_logs_of(trigger),
        crumbs=(
            {"label": gettext("Triggers"), "url": address("dashboard.triggers.index")},
            {"label": trigger.title, "url": page},
        ),
    )


def _logs_of(trigger: Trigger) -> TriggerLogs:
    return TriggerLogs(own_logs(), client(), trigger)


@blueprint.get("/configuration")
def configuration(trigger_id: str) -> AnyResponse:
    """Its configuration; secrets are not shown."""
    frame = frames.load(trigger_id)
    return frames.tab_page(frame, "configuration", "dashboard/trigger/_configuration.html", answers=_answers(frame))


@blueprint.get("/news")
def around(trigger_id: str) -> AnyResponse:
    """What has changed around the lists since the page was rendered; an open page polls every few seconds."""
    try:
        return trigger_news.answer(frames.load(trigger_id))
    except NotFound:
        return make_response(fragment("dashboard/trigger/_gone.html"))
    except PatchbayError:
        return Response(status=204)  # the page stays as it is; the next question may be answered


@blueprint.post("/test-event")
def send_test(trigger_id: str) -> AnyResponse:
    """Send an event as if it had just happened."""
    frame = frames.load(trigger_id)
    try:
        sent = client().send_test(trigger_id)
    except (Throttled, Unauthorized):
        raise
    except PatchbayError as error:
        sentence = gettext("No test event was sent. {reason}").format(reason=error.message)
        return _say(trigger_id, sentence, "bad")
    if sent is None:
        return _say(trigger_id, gettext("This service cannot send test events."), "bad")
    return _say(trigger_id, _on_its_way(frame.destinations), "ok")


def _say(trigger_id: str, sentence: str, tone: str) -> AnyResponse:
    forget_triggers()
    return say(sentence, tone, url_for("dashboard.trigger.show", trigger_id=trigger_id))


def _on_its_way(destinations: int) -> str:
    if not destinations:
        return gettext("A test event is on its way to the project’s webhook, if there is one.")
    return count_of(
        destinations,
        "A test event is on its way to {count} endpoint.",
        "A test event is on its way to {count} endpoints.",
    )


def _answers(frame: Frame) -> list[tuple[str, str]]:
    """Label and value of everything that a person was asked."""
    return [
        (prop.label, _shown(frame, prop)) for prop in frame.trigger.props if control(prop) not in ("", "alert", "fixed")
    ]


def _shown(frame: Frame, prop: Prop) -> str:
    trigger = frame.trigger
    value = trigger.configured.get(prop.name)
    if prop.secret:
        return gettext("Kept secret")
    if prop.type == "app":
        account_id = value.get("authProvisionId") if isinstance(value, dict) else None
        account = next((account for account in frame.accounts if account.id == account_id), None)
        return account.title if account else str(account_id or pgettext("account", "None"))
    if prop.type == "$.interface.timer":
        return schedule_in_words(value or trigger.schedule) or gettext("As the app decides")
    if value is None:
        return gettext("Not set")
    return _plain(prop, value)


def _plain(prop: Prop, value: Any) -> str:
    labels = {choice.value: choice.label for choice in prop.options if isinstance(choice.value, (str, int))}
    if isinstance(value, dict) and "__lv" in value:
        value = value["__lv"]
    items = value if isinstance(value, list) else [value]
    options = [components.option(item) for item in items]
    shown = [labels.get(value, label) if isinstance(value, str | int) else label for label, value in options]
    return ", ".join(shown) or gettext("Empty")


@pausing.route("", methods=["POST", "DELETE"])
def pause(trigger_id: str) -> AnyResponse:
    """Pause it, or with DELETE resume it; a form without JavaScript sends ``resume``."""
    resume = request.method == "DELETE" or bool(request.form.get("resume"))
    before = client().find(trigger_id)
    try:
        trigger = client().update(trigger_id, active=resume)
    except NotFound:
        raise
    except PatchbayError as error:
        sentence = gettext("“{name}” could not be paused. {reason}")
        if resume:
            sentence = gettext("“{name}” could not be resumed. {reason}")
        return _toggled(before, sentence.format(name=before.title, reason=error.message), "bad")
    sentence = gettext("“{name}” is active again.") if resume else gettext("“{name}” is paused; nothing is sent.")
    return _toggled(trigger, sentence.format(name=trigger.title), "ok")


def _toggled(trigger: Trigger, sentence: str, tone: str) -> AnyResponse:
    """Its switch, and the frame around it if the page of one trigger requested it."""
    forget_triggers()
    if not wants_fragment():
        flash(sentence, tone)
        return go(page_before())
    frame = frames.load(trigger.id) if request.args.get("whole") else None
    trigger = frame.trigger if frame else trigger
    context = {"trigger": trigger, "frame": frame, "sentence": sentence, "tone": tone, **template_helpers()}
    return make_response(fragment("dashboard/triggers/_toggled.html", **context))


@moving.post("")
def move(trigger_id: str) -> AnyResponse:
    """Have it run with the version that the form names from now on."""
    try:
        trigger = client().update(trigger_id, version=request.form.get("version", "")[:100])
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        flash(gettext("It was not updated. {reason}").format(reason=translated(error.message)), "bad")
    else:
        sentence = gettext("“{name}” now runs version {version}.")
        flash(sentence.format(name=trigger.title, version=trigger.version), "ok")
    forget_triggers()
    return go(url_for("dashboard.trigger.show", trigger_id=trigger_id))


@deletion.get("")
def page(trigger_id: str) -> AnyResponse:
    """Ask before deleting, and say what ends."""
    return _ask(frames.load(trigger_id))


@deletion.post("")
def delete(trigger_id: str) -> AnyResponse:
    """Delete it; if its subscription at the app cannot be removed, say so and offer to delete it nevertheless."""
    frame, anyway = frames.load(trigger_id), bool(request.form.get("anyway"))
    try:
        client().delete(trigger_id, ignore_hook_errors=anyway)
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        return _ask(frame, trouble=_why(error.message))
    forget_triggers()
    flash(gettext("“{name}” is deleted.").format(name=frame.trigger.title), "ok")
    return go(url_for("dashboard.triggers.index"))


def _ask(frame: Frame, trouble: str = "") -> Response:
    context = {"frame": frame, "trigger": frame.trigger, "trouble": trouble, **template_helpers()}
    return make_response(render_template("dashboard/trigger/deletion.html", **context), 422 if trouble else 200)


def _why(sentence: str) -> str:
    """Why it was not deleted, without the advice for programs: the page has a button for that."""
    advice = translated(_NOT_DELETED).partition("{failure_sentence}")[2].strip()
    return sentence.removesuffix(advice).rstrip()
