"""The page of a trigger: its events, its runs and its configuration; a test event; deleting it.

Deliveries and webhook URLs have modules of their own.
"""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models import components
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.component.form_fields import control
from webapp.dashboard.component.schedule_words import in_words
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.htmx import fragment, go, wants_fragment
from webapp.dashboard.trigger import deliveries
from webapp.dashboard.trigger import frame as trigger_frame
from webapp.dashboard.trigger import news as trigger_news
from webapp.dashboard.trigger.frame import Frame
from webapp.dashboard.trigger.index import changed, drawn_with
from webapp.dashboard.words import count_of
from webapp.errors import NotFound, PatchbayError, Throttled, Unauthorized
from webapp.kit.translation import gettext

blueprint = Blueprint("trigger", __name__, url_prefix="/triggers/<trigger_id>")

STEP = 25
RUNS = 30


@blueprint.get("")
def show(trigger_id: str) -> AnyResponse:
    """The page, at its events."""
    frame = trigger_frame.look(trigger_id)
    after = request.args.get("after", "")[:100]
    found, total = client().events(trigger_id, n=STEP + 1, after=after)
    events = found[:STEP]
    news = None if after else trigger_news.since(frame, "events", events, rows_url=request.path)
    more = events[-1].id if events and _are_older(trigger_id, found, after, total) else ""
    context: dict[str, Any] = {"events": events, "total": total, "after": after, "more": more, "news": news}
    return trigger_frame.shown(frame, "events", "_events.html", **context)


@blueprint.get("/events/<event_id>")
def event(trigger_id: str, event_id: str) -> AnyResponse:
    """One event, whole, and what became of it."""
    frame = trigger_frame.look(trigger_id)
    found = next((one for one in client().events(trigger_id, n=1, event_id=event_id)[0] if one.id == event_id), None)
    if found is None:
        raise NoPage
    sent = client().deliveries(trigger_id, {"event_id": event_id}, limit=deliveries.PER_PAGE)
    return trigger_frame.shown(frame, "events", "_event.html", event=found, sent=sent)


@blueprint.get("/logs")
def logs(trigger_id: str) -> AnyResponse:
    """The log of its runs."""
    frame, after = trigger_frame.look(trigger_id), request.args.get("after", "")[:1_000]
    found = client().runs(trigger_id, limit=RUNS, after=after)
    news = None if found is None or after else trigger_news.since(frame, "logs", found.items, rows_url=request.path)
    context: dict[str, Any] = {"found": found, "after": after, "news": news}
    return trigger_frame.shown(frame, "logs", "_logs.html", **context)


@blueprint.get("/configuration")
def configuration(trigger_id: str) -> AnyResponse:
    """What it was deployed with; secrets are not shown."""
    frame = trigger_frame.look(trigger_id)
    return trigger_frame.shown(frame, "configuration", "_configuration.html", answers=_answers(frame))


@blueprint.get("/news")
def news(trigger_id: str) -> AnyResponse:
    """What is new since the page was drawn; an open page asks every few seconds."""
    tab, rows_url = request.args.get("tab", ""), request.args.get("rows", "")
    try:
        frame = trigger_frame.look(trigger_id)
        return trigger_news.answer(frame, tab, _rows(trigger_id, tab, rows_url), rows_url=_own(rows_url))
    except NotFound:
        return make_response(fragment("dashboard/trigger/_gone.html"))
    except PatchbayError:
        return Response(status=204)  # the page stands as it was; the next question may be answered


@blueprint.post("/test-event")
def send_test(trigger_id: str) -> AnyResponse:
    """Have an event sent as if it had just happened."""
    frame = trigger_frame.look(trigger_id)
    try:
        sent = client().send_test(trigger_id)
    except (Throttled, Unauthorized):
        raise
    except PatchbayError as error:
        sentence = gettext("No test event was sent. {reason}").format(reason=error.message)
        return said(trigger_id, sentence, "bad")
    if sent is None:
        return said(trigger_id, gettext("This service cannot send test events."), "bad")
    sentence = gettext("A test event is on its way to the project’s webhook, if there is one.")
    if frame.places:
        sentence = count_of(
            frame.places,
            "A test event is on its way to {count} place.",
            "A test event is on its way to {count} places.",
        )
    return said(trigger_id, sentence, "ok")


@blueprint.get("/deletion")
def deletion_page(trigger_id: str) -> AnyResponse:
    """Ask before deleting, and say what ends."""
    return _question(trigger_frame.look(trigger_id))


@blueprint.post("/deletion")
def delete(trigger_id: str) -> AnyResponse:
    """Delete it; when what it set up elsewhere cannot be taken down, say so and offer to go on anyway."""
    frame, anyway = trigger_frame.look(trigger_id), bool(request.form.get("anyway"))
    try:
        client().delete(trigger_id, ignore_hook_errors=anyway)
    except (Throttled, Unauthorized, NotFound):
        raise
    except PatchbayError as error:
        return _question(frame, trouble=_why(error.message))
    changed()
    flash(gettext("“{name}” is deleted.").format(name=frame.trigger.name), "ok")
    return go(url_for("dashboard.triggers.index"))


def said(trigger_id: str, sentence: str, tone: str) -> AnyResponse:
    """Say it in the status region, or on the page that a browser without JavaScript is led to."""
    changed()
    if wants_fragment():
        return make_response(fragment("dashboard/trigger/_said.html", said=sentence, tone=tone))
    flash(sentence, tone)
    return go(url_for("dashboard.trigger.show", trigger_id=trigger_id))


def _are_older(trigger_id: str, found: Sequence[Any], after: str, total: int | None) -> bool:
    """Whether events are left for the next page. A page of large ones is shorter than was asked for."""
    if len(found) > STEP or (not after and total == len(found)):
        return len(found) > STEP
    return bool(client().events(trigger_id, n=1, after=found[-1].id)[0])


def _rows(trigger_id: str, tab: str, rows_url: str) -> list[Any]:
    if tab == "events":
        return list(client().events(trigger_id, n=trigger_news.MOST)[0])
    if tab == "deliveries":
        return deliveries.rows_at(trigger_id, rows_url)
    found = client().runs(trigger_id, limit=trigger_news.MOST) if tab == "logs" else None
    if found is None:
        raise NoPage
    return list(found.items)


def _own(url: str) -> str:
    """An address of this trigger's own page; anything else is not led to."""
    own = request.path.removesuffix("/news")
    return url if url == own or url.startswith((own + "/", own + "?")) else own


def _question(frame: Frame, trouble: str = "") -> Response:
    context = {"frame": frame, "trigger": frame.trigger, "trouble": trouble, "ends": _ends(frame), **drawn_with()}
    return make_response(render_template("dashboard/trigger/deletion.html", **context), 422 if trouble else 200)


def _why(sentence: str) -> str:
    """Why it was not deleted, without the advice for programs: the page has a button for that."""
    return sentence.partition(" Try again, or delete it with")[0]


def _ends(frame: Frame) -> list[str]:
    """What ends with the trigger, in words."""
    lines = [_source_ends(frame)]
    if frame.places:
        lines.append(
            count_of(
                frame.places, "{count} place gets nothing more from it.", "{count} places get nothing more from it."
            )
        )
    waiting = frame.day.waiting if frame.day else 0
    if waiting:
        lines.append(
            count_of(
                waiting,
                "{count} delivery that still waits will not arrive.",
                "{count} deliveries that still wait will not arrive.",
            )
        )
    return [*lines, gettext("Its events, deliveries and logs are deleted.")]


def _source_ends(frame: Frame) -> str:
    """What becomes of where its events came from."""
    one, source = frame.trigger, frame.app.name if frame.app else gettext("the app")
    if one.emitter == "http":
        sentence = (
            gettext("{address} stops answering.") if one.endpoint_url else gettext("Its address stops answering.")
        )
        return sentence.format(address=one.endpoint_url)
    if one.emitter == "email":
        sentence = (
            gettext("Mail to {address} is refused.")
            if one.email_address
            else gettext("Mail to its address is refused.")
        )
        return sentence.format(address=one.email_address)
    if one.emitter == "timer":
        return gettext("Its schedule ends.")
    if one.instant:
        return gettext("Patchbay stops watching {app} and unsubscribes there.").format(app=source)
    return gettext("Patchbay stops watching {app}.").format(app=source)


def _answers(frame: Frame) -> list[tuple[str, str]]:
    """Label and value of everything that a person was asked."""
    return [
        (prop.label, _shown(frame, prop)) for prop in frame.trigger.props if control(prop) not in ("", "alert", "fixed")
    ]


def _shown(frame: Frame, prop: Prop) -> str:
    trigger: Trigger = frame.trigger
    value = trigger.configured.get(prop.name)
    if prop.secret:
        return gettext("Kept secret")
    if prop.type == "app":
        wanted = value.get("authProvisionId") if isinstance(value, dict) else None
        account = next((one for one in frame.accounts if one.id == wanted), None)
        return account.title if account else str(wanted or gettext("None"))
    if prop.type == "$.interface.timer":
        return in_words(value or trigger.schedule) or gettext("As the app decides")
    if value is None:
        return gettext("Not set")
    return _plain(prop, value)


def _plain(prop: Prop, value: Any) -> str:
    labels = {choice.value: choice.label for choice in prop.options if isinstance(choice.value, (str, int))}
    if isinstance(value, dict) and "__lv" in value:
        value = value["__lv"]
    items = value if isinstance(value, list) else [value]
    found = [components.option(item) for item in items]
    return ", ".join(labels.get(one.value, one.label) if isinstance(one.value, (str, int)) else one.label
                     for one in found) or gettext("Empty")  # fmt: skip
