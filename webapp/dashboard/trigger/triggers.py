"""The list of a person's triggers, those with problems first; pausing and resuming."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from flask import Blueprint
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import words
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.deliveries import DayOf, Endpoint
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import READ
from webapp.dashboard.component import prop_values
from webapp.dashboard.dashboard import app_of, known_accounts, known_triggers
from webapp.dashboard.dashboard import triggers as client
from webapp.dashboard.pages import ListQuery, address, among, at_most, page, within
from webapp.dashboard.trigger import charts
from webapp.errors import PatchbayError
from webapp.kit import slugs

blueprint = Blueprint("triggers", __name__)

PER_PAGE = 20


class TriggersQuery(ListQuery):
    """Which triggers, and which page of them."""

    status: Annotated[str, among(words.TRIGGER_STATES)] = ""
    app: Annotated[str, at_most(100)] = ""
    page: Annotated[int, within(1, READ)] = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the list: the trigger with its chart and problems."""

    trigger: Trigger
    app: App | None
    accounts: tuple[Account, ...]
    day: DayOf | None

    @property
    def failing(self) -> tuple[Endpoint, ...]:
        """Its addresses that fail."""
        return self.day.failing if self.day else ()


@blueprint.get("/triggers")
def index() -> AnyResponse:
    """The list; for htmx only the results."""
    query = TriggersQuery.of_request()
    context = {"query": query, **_matching(query), **template_helpers()}
    return page("dashboard/triggers/index.html", "dashboard/triggers/_results.html", url=query.url(), **context)


def _matching(query: TriggersQuery) -> dict[str, Any]:
    """The triggers on this page, and the number of all that match."""
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
        "rows": _rows(matching[first : first + PER_PAGE]),
        "has_next": len(matching) > first + PER_PAGE,
    }


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
    """The functions of all templates about triggers."""
    return {
        "words": words,
        "charts": charts,
        "schedule_words": prop_values.schedule_in_words,
        "words_of": slugs.words,
        "trigger_url": lambda trigger_id, endpoint="trigger.show", **more: address(
            f"dashboard.{endpoint}", trigger_id=trigger_id, **more
        ),
    }


def _rows(triggers: Sequence[Trigger]) -> list[Row]:
    """The rows, without charts and failing addresses if these cannot be read."""
    try:
        days = client().days([trigger.id for trigger in triggers])
    except PatchbayError:
        days = {}
    return [Row(trigger, app_of(trigger.app), accounts_of(trigger), days.get(trigger.id)) for trigger in triggers]
