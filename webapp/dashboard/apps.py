"""The Apps page and the page of one app."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, g, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import overview, words
from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.lenient import PageInfo, PageOf
from webapp.dashboard.dashboard import Catalog, dashboard, person, service
from webapp.dashboard.htmx import fragment, page, wants_fragment
from webapp.dashboard.overview import Overview
from webapp.dashboard.trigger.index import known_triggers
from webapp.errors import PatchbayError

blueprint = Blueprint("apps", __name__)

STEP = 24
MOST = 480  # cards on one page; a search finds the rest faster
_CHUNK = 96
SORTS = {
    "featured": ("featured_weight", "desc"),
    "name": ("name", "asc"),
    "name-desc": ("name", "desc"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address says: the filter, the sort and how many cards."""

    q: str
    category: str
    has_actions: bool
    has_triggers: bool
    sort: str
    shown: int

    @classmethod
    def of_request(cls) -> "Wanted":
        """Read the query; what makes no sense falls back to the default."""
        args = request.args
        shown = args.get("shown", STEP, type=int)
        return cls(
            q=args.get("q", "").strip()[:200],
            category=args.get("category", "")[:64],
            has_actions=args.get("has_actions") == "1",
            has_triggers=args.get("has_triggers") == "1",
            sort=args["sort"] if args.get("sort") in SORTS else "featured",
            shown=min(max(shown, STEP), MOST),
        )

    @property
    def filtered(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.q or self.category or self.has_actions or self.has_triggers)

    def filter(self) -> AppFilter:
        """The same as the API takes it."""
        key, direction = SORTS[self.sort]
        return AppFilter(self.q, self.category, self.has_actions, self.has_triggers, key, direction)

    def url(self, **changes: str | int) -> str:
        """The address of this list with ``changes``; defaults are left out of it."""
        parts: dict[str, str | int] = {
            "q": self.q,
            "category": self.category,
            "has_actions": int(self.has_actions) or "",
            "has_triggers": int(self.has_triggers) or "",
            "sort": self.sort if self.sort != "featured" else "",
            "shown": self.shown if self.shown != STEP else "",
        }
        query = urlencode({name: value for name, value in (parts | changes).items() if value != ""})
        return request.path + (f"?{query}" if query else "")


@blueprint.get("/apps")
def index() -> AnyResponse:
    """Search, filters and cards; for htmx the results alone, or just the cards after a cursor."""
    wanted, user = Wanted.of_request(), service()
    after = request.args.get("after", "")
    if after and wants_fragment():
        return _more(wanted, user, after)
    found = _cards(user, wanted.filter(), wanted.shown)
    return page(
        "dashboard/apps/index.html",
        "dashboard/apps/_results.html",
        url=wanted.url(),
        **_list_context(wanted, found, _overview(user, fresh=not wants_fragment())),
        catalog=_catalog(user),
    )


@blueprint.get("/apps/<slug>")
def show(slug: str) -> str:
    """One app: how it connects, whose accounts are connected, what it may do."""
    user = service()
    app = user.app(slug)
    accounts = overview.read(user, app=app.slug) if app.auth_type != "none" else None
    code = request.args.get("error", "")
    return render_template(
        "dashboard/apps/show.html",
        app=app,
        accounts=accounts,
        trouble=words.ending(code, app.name) if code else None,
        permissions=permissions(app),
    )


def permissions(app: App, only: Sequence[str] | None = None) -> list[str]:
    """What an app may do, in words; a scope that nobody has put into words is shown as it is."""
    known = app.extras.scopes if app.extras else {}
    scopes = list(known) or sorted({scope for profile in app.scope_profiles for scope in profile.scopes})
    return [known.get(scope, scope) for scope in (only if only is not None else scopes)]


def _more(wanted: Wanted, user: UserClient, after: str) -> Response:
    found = user.apps(wanted.filter(), limit=STEP, after=after)
    response = Response(
        fragment("dashboard/apps/_more.html", focus=True, **_list_context(wanted, found, _overview(user, fresh=False)))
    )
    response.headers["HX-Push-Url"] = wanted.url()
    return response


def _list_context(wanted: Wanted, found: PageOf[App], known: Overview | None) -> dict[str, Any]:
    shown = min(wanted.shown, found.total)
    return {
        "wanted": wanted,
        "apps": found.items,
        "total": found.total,
        "shown": shown,
        "next_cursor": found.end_cursor if shown < MOST else "",
        "more_url": wanted.url(shown=wanted.shown + STEP),
        "step": min(STEP, found.total - shown),
        "overview": known,
        "badges": known.badges() if known else {},
        "using": _using() if known and known.needing else {},
    }


def _cards(user: UserClient, wanted: AppFilter, count: int) -> PageOf[App]:
    items: list[App] = []
    cursor, total = "", 0
    while len(items) < count:
        found = user.apps(wanted, limit=min(_CHUNK, count - len(items)), after=cursor)
        items += found.items
        cursor, total = found.end_cursor, found.total
        if not cursor or not found.items:
            break
    return PageOf(data=tuple(items), page_info=PageInfo(total_count=total, end_cursor=cursor))


def _overview(user: UserClient, *, fresh: bool) -> Overview | None:
    """The person's accounts, for badges; the page stands without them when they cannot be read."""
    board = dashboard()
    known = None if fresh else board.overviews.get(person().id)
    if known:
        return known
    try:
        return board.overviews.put(person().id, overview.read(user))
    except PatchbayError:
        g.service_failed = True
        return None


def _using() -> Mapping[str, int]:
    """How many triggers use each account, as far as that can be told."""
    try:
        return known_triggers().of_account()
    except PatchbayError:
        return Counter()


def _catalog(user: UserClient) -> Catalog:
    board = dashboard()
    known = board.catalogs.get("all")
    if known:
        return known
    total = user.apps(AppFilter(), limit=1).total
    return board.catalogs.put("all", Catalog(tuple(user.categories()), total))
