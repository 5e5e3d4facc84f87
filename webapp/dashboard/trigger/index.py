"""The list of a person's triggers, those that need somebody first; pausing one and resuming it."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

from flask import Blueprint, flash, make_response, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import words
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.deliveries import Day
from webapp.dashboard.client.models.destinations import Endpoint
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import READ
from webapp.dashboard.component import schedule_words
from webapp.dashboard.dashboard import app_of, forget_triggers, known_accounts, known_triggers
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import ListQuery, among, at_most, fragment, go, page, page_before, wants_fragment, within
from webapp.dashboard.trigger import charts
from webapp.errors import NotFound, PatchbayError
from webapp.kit.translation import gettext

blueprint = Blueprint("triggers", __name__)

PER_PAGE = 20


class TriggersQuery(ListQuery):
    """Which triggers, and which page of them."""

    status: Annotated[str, among(words.TRIGGER_STATES)] = ""
    app: Annotated[str, at_most(100)] = ""
    page: Annotated[int, within(1, READ)] = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the list: the trigger with what stands beside it."""

    trigger: Trigger
    app: App | None
    accounts: tuple[Account, ...]
    day: Day | None
    failing: tuple[Endpoint, ...]


@blueprint.get("/triggers")
def index() -> AnyResponse:
    """The list; for htmx the results alone."""
    query = TriggersQuery.of_request()
    context = {"query": query, **_matching(query), **template_helpers()}
    return page("dashboard/triggers/index.html", "dashboard/triggers/_results.html", url=query.url(), **context)


def _matching(query: TriggersQuery) -> dict[str, Any]:
    """The triggers on this page of the list, and what is said of all that match."""
    overview = known_triggers(fresh=True)
    of_app = [trigger for trigger in overview.items if not query.app or trigger.app == query.app]
    matching = [trigger for trigger in of_app if not query.status or trigger.state == query.status]
    first = (query.page - 1) * PER_PAGE
    slugs = {trigger.app for trigger in overview.items if trigger.app}
    return {
        "overview": overview,
        "counts": Counter(trigger.state for trigger in of_app),
        "apps": sorted({slug: app_of(slug) for slug in slugs}.items()),
        "matching": len(matching),
        "first": first,
        "rows": [_row(trigger) for trigger in matching[first : first + PER_PAGE]],
        "has_next": len(matching) > first + PER_PAGE,
    }


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


def accounts_of(trigger: Trigger) -> tuple[Account, ...]:
    """The accounts it works with, as far as they are known. They are never asked for again within 30 seconds."""
    if not trigger.accounts:
        return ()
    try:
        accounts = known_accounts().accounts
    except PatchbayError:
        return ()
    return tuple(account for account in accounts if account.id in trigger.accounts)


def template_helpers() -> dict[str, Any]:
    """What every template about triggers is drawn with."""
    return {
        "words": words,
        "charts": charts,
        "schedule_words": schedule_words.in_words,
        "trigger_url": lambda trigger_id, endpoint="trigger.show", **more: url_for(
            f"dashboard.{endpoint}", trigger_id=trigger_id, **more
        ),
    }


def _row(trigger: Trigger) -> Row:
    """The chart and the failing addresses are left out of a row when they cannot be had."""
    try:
        day = client().day(trigger.id)
        failing = tuple(endpoint for endpoint in client().endpoints(trigger.id) if endpoint.failing)
    except PatchbayError:
        day, failing = None, ()
    return Row(trigger, app_of(trigger.app), accounts_of(trigger), day, failing)


def _toggled(trigger: Trigger, sentence: str, tone: str) -> AnyResponse:
    forget_triggers()
    if not wants_fragment():
        flash(sentence, tone)
        return go(page_before())
    context = {"trigger": trigger, "sentence": sentence, "tone": tone, **template_helpers()}
    return make_response(fragment("dashboard/triggers/_toggled.html", **context))
