"""The page of a trigger: its events, runs and configuration, a test event, and pausing, updating and deleting it.

Runs in a row that found nothing are one line. A trigger stays on the version of its component that it was deployed with
until a person moves it to another. Deleting it asks first; when its subscription at the app cannot be removed, the page
says so and offers to delete it anyway. Deliveries and webhook URLs have modules of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models import components
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.client.models.triggers import Event, Trigger, TriggerRun
from webapp.dashboard.component.prop_data import control, schedule_in_words
from webapp.dashboard.dashboard import forget_triggers
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import fragment, go, here, say, wants_fragment
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.rich import json_html
from webapp.dashboard.trigger import deliveries
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger import news as trigger_news
from webapp.dashboard.trigger.frame import Frame
from webapp.dashboard.trigger.triggers import template_helpers
from webapp.errors import NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import count_of, gettext, pgettext, translated

blueprint = Blueprint("trigger", __name__, url_prefix="/triggers/<trigger_id>")
pausing = Blueprint("pausing", __name__, url_prefix="/triggers/<trigger_id>/pause")
moving = Blueprint("moving", __name__, url_prefix="/triggers/<trigger_id>/version")
deletion = Blueprint("deletion", __name__, url_prefix="/triggers/<trigger_id>/deletion")

FEWEST = 3
STEP = 25
RUNS = 50
# What the service says, with its advice at the end.
_NOT_DELETED = (
    "It was not deleted, because it could not be unsubscribed: {failure_sentence} "
    "Try again, or delete it with ignore_hook_errors=true."
)


@dataclass(frozen=True, slots=True)
class Quiet:
    """Consecutive runs, newest first, that found nothing."""

    runs: tuple[TriggerRun, ...]


def folded(runs: Sequence[TriggerRun]) -> list[TriggerRun | Quiet]:
    """``runs``, newest first, where :data:`FEWEST` or more consecutive ones that found nothing are one item."""
    lines: list[TriggerRun | Quiet] = []
    for nothing, group in groupby(runs, _found_nothing):
        in_a_row = tuple(group)
        lines += [Quiet(in_a_row)] if nothing and len(in_a_row) >= FEWEST else in_a_row
    return lines


def _found_nothing(run: TriggerRun) -> bool:
    return run.ok and run.cause == "timer" and not run.emitted


@blueprint.get("")
def show(trigger_id: str) -> AnyResponse:
    """The page, at its events."""
    after = request.args.get("after", "")[:100]
    frame = frames.load(trigger_id, events=0 if after else STEP + 1)
    read, total = _events(frame, after)
    events = read[:STEP]
    news = None if after else trigger_news.since(frame, "events", events, rows_url=here())
    more = events[-1].id if events and _are_older(trigger_id, read, after, total) else ""
    context: dict[str, Any] = {"events": events, "total": total, "after": after, "more": more, "news": news}
    return frames.tab_page(frame, "events", "_events.html", **context)


@blueprint.get("/events/<event_id>")
def event(trigger_id: str, event_id: str) -> AnyResponse:
    """One event, whole, and what became of it."""
    frame, event = frames.load(trigger_id), _event(trigger_id, event_id)
    sent = client().deliveries(trigger_id, {"event_id": event_id}, limit=deliveries.PER_PAGE)
    return frames.tab_page(frame, "events", "_event.html", event=event, sent=sent)


@blueprint.get("/events/<event_id>/payload")
def payload(trigger_id: str, event_id: str) -> str:
    """The payload of one event of the list, requested when it is opened."""
    event = _event(trigger_id, event_id)
    return fragment("dashboard/trigger/_payload.html", event=event, json_html=json_html)


@blueprint.get("/logs")
def logs(trigger_id: str) -> AnyResponse:
    """The log of its runs."""
    frame, after = frames.load(trigger_id), request.args.get("after", "")[:1_000]
    runs = client().runs(trigger_id, limit=RUNS, after=after)
    news = None if runs is None or after else trigger_news.since(frame, "logs", runs.items, rows_url=here())
    context: dict[str, Any] = {"runs": runs, "after": after, "news": news, "folded": folded(runs.items) if runs else []}
    return frames.tab_page(frame, "logs", "_logs.html", **context)


@blueprint.get("/configuration")
def configuration(trigger_id: str) -> AnyResponse:
    """Its configuration; secrets are not shown."""
    frame = frames.load(trigger_id)
    return frames.tab_page(frame, "configuration", "_configuration.html", answers=_answers(frame))


@blueprint.get("/news")
def news(trigger_id: str) -> AnyResponse:
    """What is new since the page was rendered; an open page polls every few seconds."""
    tab, rows_url = request.args.get("tab", ""), request.args.get("rows", "")
    try:
        frame = frames.load(trigger_id)
        return trigger_news.answer(frame, tab, _rows(trigger_id, tab, rows_url), rows_url=_own(rows_url))
    except NotFound:
        return make_response(fragment("dashboard/trigger/_gone.html"))
    except PatchbayError:
        return Response(status=204)  # the page stands as it was; the next question may be answered


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


def _events(frame: Frame, after: str) -> tuple[Sequence[Event], int | None]:
    """The events of a page, one more than it shows, and their total number if known."""
    if frame.events:
        return frame.events.items, frame.events.total
    return client().events(frame.trigger.id, n=STEP + 1, after=after, brief=True)


def _event(trigger_id: str, event_id: str) -> Event:
    """One event of one's own. Raises 404."""
    events, _ = client().events(trigger_id, n=1, event_id=event_id)
    if not events or events[0].id != event_id:
        raise NoPage
    return events[0]


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


def _are_older(trigger_id: str, events: Sequence[Event], after: str, total: int | None) -> bool:
    """Whether events are left for the next page. A page of large ones is shorter than was asked for."""
    if len(events) > STEP or (not after and total == len(events)):
        return len(events) > STEP
    return bool(client().events(trigger_id, n=1, after=events[-1].id, brief=True)[0])


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


def _rows(trigger_id: str, tab: str, rows_url: str) -> list[Any]:
    if tab == "events":
        return list(client().events(trigger_id, n=trigger_news.MOST, brief=True)[0])
    if tab == "deliveries":
        return deliveries.rows_at(trigger_id, rows_url)
    runs = client().runs(trigger_id, limit=trigger_news.MOST) if tab == "logs" else None
    if runs is None:
        raise NoPage
    return list(runs.items)


def _own(url: str) -> str:
    """An address of this trigger's own page; anything else is not led to."""
    own = here().removesuffix("/news")
    return url if url == own or url.startswith((own + "/", own + "?")) else own


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
