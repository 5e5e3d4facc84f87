"""What happened to a person's accounts and triggers, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, request
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import audit, overview
from webapp.dashboard.client.models.activity import ActivityEntry
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.dashboard import dashboard, person, service
from webapp.dashboard.htmx import page
from webapp.dashboard.overview import Overview
from webapp.dashboard.trigger.index import known_triggers
from webapp.dashboard.words import KIND_TONES, KINDS
from webapp.errors import Invalid, NotFound, PatchbayError

blueprint = Blueprint("activity", __name__)

PER_PAGE = 30


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address says: which entries, and from where on. ``after`` is the API's own cursor."""

    app: str
    kind: str
    account: str
    after: str

    @classmethod
    def of_request(cls) -> "Wanted":
        """Read the query; what makes no sense falls back to the default."""
        args = request.args
        return cls(
            app=args.get("app", "")[:100],
            kind=args["kind"] if args.get("kind") in KINDS else "",
            account=args.get("account", "")[:100],
            after=args.get("after", "")[:1_000],
        )

    @property
    def filtered(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.app or self.kind or self.account)

    def url(self, **changes: str) -> str:
        """The address of this list with ``changes``; defaults are left out of it."""
        parts = {"app": self.app, "kind": self.kind, "account": self.account, "after": self.after} | changes
        query = urlencode({name: value for name, value in parts.items() if value})
        return request.path + (f"?{query}" if query else "")


@blueprint.get("/activity")
def index() -> AnyResponse:
    """The list; for htmx the results alone. There is no such page where the service keeps no record."""
    wanted = Wanted.of_request()
    found = _read(wanted)
    if found is None:
        raise NoPage
    known = _accounts()
    return page(
        "dashboard/activity/index.html",
        "dashboard/activity/_results.html",
        url=wanted.url(),
        wanted=wanted,
        found=found,
        may_audit=audit.offered(),
        known={account.id: account for account in known.accounts},
        triggers={trigger.id: trigger for trigger in _triggers(found)},
        names=_app_names(found, known, wanted),
        kinds=KINDS,
        kind_tones=KIND_TONES,
    )


def _read(wanted: Wanted) -> PageOf[ActivityEntry] | None:
    """One page of entries; a cursor that is broken or of another list leads to the first one."""
    asked: dict[str, Any] = {"app": wanted.app, "kind": wanted.kind, "account": wanted.account, "limit": PER_PAGE}
    try:
        return service().activity(after=wanted.after, **asked)
    except Invalid:
        if not wanted.after:
            raise
        return service().activity(**asked)


def _accounts() -> Overview:
    """The accounts that are still there, to lead to; a few seconds old is good enough."""
    board = dashboard()
    return board.overviews.get(person().id) or board.overviews.put(person().id, overview.read(service()))


def _triggers(found: PageOf[ActivityEntry]) -> Sequence[Trigger]:
    """The triggers that are still there, where the page tells of any."""
    if not any(item.trigger_id for item in found.items):
        return ()
    try:
        return known_triggers().items
    except PatchbayError:
        return ()


def _app_names(found: PageOf[ActivityEntry], known: Overview, wanted: Wanted) -> dict[str, str]:
    """Names by slug: of the apps on this page and of those with an account, by name."""
    names = dict(known.apps())
    for slug in {item.app for item in found.items} | {wanted.app}:
        if slug and slug not in names:
            names[slug] = _app_name(slug)
    return dict(sorted(names.items(), key=lambda item: item[1].lower()))


def _app_name(slug: str) -> str:
    """The name of an app whose accounts are gone."""
    names = dashboard().app_names
    try:
        return names.get(slug) or names.put(slug, service().app(slug).name)
    except NotFound:
        return slug
