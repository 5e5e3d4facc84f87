"""The Activity page: what happened to a person's own accounts and triggers, newest first.

The audit log of the whole project is the Audit tab (:mod:`.audit`).
"""

from typing import Annotated, Any

from flask import Blueprint
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import audit
from webapp.dashboard.client.models.accounts import ActivityEntry
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.dashboard import dashboard, known_accounts, known_triggers, service
from webapp.dashboard.pages import ListQuery, among, at_most, page, read_from
from webapp.dashboard.words import KIND_TONES, KINDS
from webapp.errors import NotFound, PatchbayError
from webapp.kit import slugs

blueprint = Blueprint("activity", __name__)

PER_PAGE = 30


class ActivityQuery(ListQuery):
    """The filters of the list. ``after`` is the API's cursor."""

    app: Annotated[str, at_most(100)] = ""
    kind: Annotated[str, among(KINDS)] = ""
    account: Annotated[str, at_most(100)] = ""
    after: Annotated[str, at_most(1_000)] = ""


@blueprint.get("/activity")
def index() -> AnyResponse:
    """The list; for htmx only the results. Raises :class:`NoPage` if the service has no history."""
    query = ActivityQuery.of_request()
    entries = _read(query)
    if entries is None:
        raise NoPage
    templates = "dashboard/activity/index.html", "dashboard/activity/_results.html"
    may_audit = audit.offered()
    return page(*templates, url=query.url(), query=query, may_audit=may_audit, **_context(query, entries))


def _context(query: ActivityQuery, entries: PageOf[ActivityEntry]) -> dict[str, Any]:
    """The entries, with the existing accounts and triggers to link to."""
    known = known_accounts()
    return {
        "entries": entries,
        "known": {account.id: account for account in known.accounts},
        "triggers": {trigger.id: trigger for trigger in _triggers(entries)},
        "names": _app_names(entries, known, query),
        "kinds": KINDS,
        "kind_tones": KIND_TONES,
    }


def _read(query: ActivityQuery) -> PageOf[ActivityEntry] | None:
    """A page of entries, or None if the service has no history."""
    filters: dict[str, Any] = {"app": query.app, "kind": query.kind, "account": query.account, "limit": PER_PAGE}
    return read_from(query.after, lambda after: service().activity(after=after, **filters))


def _triggers(entries: PageOf[ActivityEntry]) -> tuple[Trigger, ...]:
    """The existing triggers, if any entry is about a trigger."""
    if not any(entry.trigger_id for entry in entries.items):
        return ()
    try:
        return known_triggers().items
    except PatchbayError:
        return ()


def _app_names(entries: PageOf[ActivityEntry], known: Overview, query: ActivityQuery) -> dict[str, str]:
    """The names, by slug, of the apps on this page and of those with an account; sorted by name."""
    names = dict(known.apps())
    for slug in {entry.app for entry in entries.items} | {query.app}:
        if slug and slug not in names:
            names[slug] = _app_name(slug)
    return dict(sorted(names.items(), key=lambda item: item[1].lower()))


def _app_name(slug: str) -> str:
    """The name of an app without accounts."""
    names = dashboard().app_names
    try:
        return names.get(slug) or names.put(slug, service().app(slug).name)
    except NotFound:
        return slugs.words(slug)
