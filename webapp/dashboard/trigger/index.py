"""The list of a person's triggers, those that need somebody first; pausing one and resuming it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, flash, make_response, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import overview, security, words
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.deliveries import Day
from webapp.dashboard.client.models.triggers import Endpoint, Trigger
from webapp.dashboard.component import schedule_words
from webapp.dashboard.dashboard import dashboard, person, service
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.htmx import fragment, go, page, wants_fragment
from webapp.dashboard.trigger import charts
from webapp.dashboard.trigger import overview as trigger_overview
from webapp.dashboard.trigger.overview import Triggers
from webapp.errors import NotFound, PatchbayError
from webapp.kit.translation import gettext

blueprint = Blueprint("triggers", __name__)

PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address says: which triggers, and which page of them."""

    status: str
    app: str
    number: int

    @classmethod
    def of_request(cls) -> "Wanted":
        """Read the query; what makes no sense falls back to the default."""
        args = request.args
        return cls(
            status=args["status"] if args.get("status") in words.TRIGGER_STATES else "",
            app=args.get("app", "")[:100],
            number=min(max(args.get("page", 1, type=int), 1), trigger_overview.READ),
        )

    def url(self, **changes: str | int) -> str:
        """The address of this list with ``changes``; defaults are left out of it."""
        parts: dict[str, str | int] = {
            "status": self.status,
            "app": self.app,
            "page": self.number if self.number > 1 else "",
        }
        query = urlencode({name: value for name, value in (parts | changes).items() if value not in ("", 0)})
        return request.path + (f"?{query}" if query else "")


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the list: the trigger with what stands beside it."""

    trigger: Trigger
    app: App | None
    accounts: tuple[Account, ...]
    day: Day | None
    failing: tuple[Endpoint, ...]


@blueprint.get("/triggers")
def index() -> AnyResponse:
    """The list; for htmx the results alone."""
    wanted, known = Wanted.of_request(), known_triggers(fresh=True)
    of_app = [one for one in known.items if not wanted.app or one.app == wanted.app]
    matching = [one for one in of_app if not wanted.status or one.state == wanted.status]
    first = (wanted.number - 1) * PER_PAGE
    lines = [_line(one) for one in matching[first : first + PER_PAGE]]
    return page(
        "dashboard/triggers/index.html",
        "dashboard/triggers/_results.html",
        url=wanted.url(),
        wanted=wanted,
        known=known,
        counts=Triggers(tuple(of_app), len(of_app)).counts(),
        apps=sorted({slug: app_of(slug) for slug in {one.app for one in known.items if one.app}}.items()),
        matching=len(matching),
        first=first,
        lines=lines,
        has_next=len(matching) > first + PER_PAGE,
        **drawn_with(),
    )


@blueprint.route("/triggers/<trigger_id>/pause", methods=["POST", "DELETE"])
def pause(trigger_id: str) -> AnyResponse:
    """Pause it, or with DELETE resume it; a form without JavaScript says ``resume``."""
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
        return _toggled(before, sentence.format(name=before.name, reason=error.message), "bad")
    sentence = gettext("“{name}” is active again.") if resume else gettext("“{name}” is paused; nothing is sent.")
    return _toggled(trigger, sentence.format(name=trigger.name), "ok")


def known_triggers(*, fresh: bool = False) -> Triggers:
    """The person's triggers; a few seconds old is good enough unless ``fresh``."""
    board = dashboard()
    known = None if fresh else board.triggers.get(person().id)
    return known or board.triggers.put(person().id, trigger_overview.read(client()))


def changed() -> None:
    """Forget what was read of the triggers, because one has just changed."""
    dashboard().triggers.drop(person().id)


def accounts_of(trigger: Trigger) -> tuple[Account, ...]:
    """The accounts it works with, as far as they are known. They are never asked for again within 30 seconds."""
    if not trigger.accounts:
        return ()
    board = dashboard()
    try:
        known = board.overviews.get(person().id) or board.overviews.put(person().id, overview.read(service()))
    except PatchbayError:
        return ()
    return tuple(account for account in known.accounts if account.id in trigger.accounts)


def app_of(slug: str) -> App | None:
    """The app of that slug, kept for a while; ``None`` where it cannot be told."""
    known = dashboard().apps
    try:
        return known.get(slug) or known.put(slug, service().app(slug)) if slug else None
    except PatchbayError:
        return None


def drawn_with() -> dict[str, Any]:
    """What every template about triggers is drawn with."""
    return {
        "words": words,
        "charts": charts,
        "schedule_words": schedule_words.in_words,
        "trigger_url": lambda trigger_id, endpoint="trigger.show", **more: url_for(
            f"dashboard.{endpoint}", trigger_id=trigger_id, **more
        ),
    }


def _line(trigger: Trigger) -> Line:
    """The chart and the failing addresses are left out of a row when they cannot be had."""
    try:
        day = client().day(trigger.id)
        failing = tuple(one for one in client().endpoints(trigger.id) if one.failing)
    except PatchbayError:
        day, failing = None, ()
    return Line(trigger, app_of(trigger.app), accounts_of(trigger), day, failing)


def _toggled(trigger: Trigger, sentence: str, tone: str) -> AnyResponse:
    changed()
    if not wants_fragment():
        flash(sentence, tone)
        return go(security.page_before())
    context = {"trigger": trigger, "said": sentence, "tone": tone, **drawn_with()}
    return make_response(fragment("dashboard/triggers/_toggled.html", **context))
