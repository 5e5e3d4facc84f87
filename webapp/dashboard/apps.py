"""The Apps page, with search, filters and cards, and the page of one app: the person's accounts, actions, triggers.

:mod:`.component.page` is the page of one action or trigger.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from flask import Blueprint, Response, g, render_template, request, url_for
from pydantic import StringConstraints
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import words
from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Kind
from webapp.dashboard.client.models.lenient import PageInfo, PageOf
from webapp.dashboard.client.overview import Overview, read_accounts
from webapp.dashboard.dashboard import Catalog, components, dashboard, known_accounts, service, uses_by_account
from webapp.dashboard.pages import ListQuery, among, at_most, page, wants_fragment, within
from webapp.dashboard.rich import rich
from webapp.errors import PatchbayError

blueprint = Blueprint("apps", __name__)
tabs = Blueprint("components", __name__)

STEP = 24
COMPONENTS = 50  # on one page of a tab
MOST = 480  # cards on one page; a search finds the rest faster
_CHUNK = 96
SORTS = {
    "featured": ("featured_weight", "desc"),
    "name": ("name", "asc"),
    "name-desc": ("name", "desc"),
}


class AppsQuery(ListQuery):
    """The filter, the sort and how many cards; ``after`` is the API's own cursor, for htmx alone."""

    q: Annotated[str, StringConstraints(strip_whitespace=True), at_most(200)] = ""
    category: Annotated[str, at_most(64)] = ""
    has_actions: bool = False
    has_triggers: bool = False
    sort: Annotated[str, among(SORTS)] = "featured"
    shown: Annotated[int, within(STEP, MOST)] = STEP
    after: str = ""

    def filter(self) -> AppFilter:
        """The same as the API takes it."""
        key, direction = SORTS[self.sort]
        return AppFilter(self.q, self.category, self.has_actions, self.has_triggers, key, direction)


@blueprint.get("/apps")
def index() -> AnyResponse:
    """Search, filters and cards; for htmx the results alone, or just the cards after a cursor."""
    query, user = AppsQuery.of_request(), service()
    after, query = query.after, query.model_copy(update={"after": ""})
    if after and wants_fragment():
        return _more(query, user, after)
    apps = _cards(user, query.filter(), query.shown)
    return page(
        "dashboard/apps/index.html",
        "dashboard/apps/_results.html",
        url=query.url(),
        **_list_context(query, apps, _overview(fresh=not wants_fragment())),
        catalog=_catalog(user),
    )


@blueprint.get("/apps/<slug>")
def show(slug: str) -> str:
    """One app: how it connects, whose accounts are connected, what it may do."""
    user = service()
    app = user.app(slug)
    accounts = read_accounts(user, app=app.slug) if app.auth_type != "none" else None
    code = request.args.get("error", "")
    return render_template(
        "dashboard/apps/show.html",
        app=app,
        accounts=accounts,
        trouble=words.ending(code, app.name) if code else None,
        permissions=permissions(app),
    )


@tabs.get("/apps/<slug>/<any(actions, triggers):kind>", endpoint="index")
def list_components(slug: str, kind: Kind) -> AnyResponse:
    """The app's actions or triggers, with a search; for htmx the list alone."""
    q, after = request.args.get("q", "").strip()[:200], request.args.get("after", "")
    app = service().app(slug)
    listing = components().listed(kind, app=app.slug, q=q, limit=COMPONENTS, after=after)
    url = url_for("dashboard.components.index", slug=slug, kind=kind, q=q or None, after=after or None)
    templates = "dashboard/components/index.html", "dashboard/components/_list.html"
    return page(*templates, url=url, app=app, kind=kind, q=q, after=after, page=listing, rich=rich)


def permissions(app: App, only: Sequence[str] | None = None) -> list[str]:
    """What an app may do, in words; a scope that nobody has put into words is shown as it is."""
    known = app.extras.scopes if app.extras else {}
    scopes = list(known) or sorted({scope for profile in app.scope_profiles for scope in profile.scopes})
    return [known.get(scope, scope) for scope in (only if only is not None else scopes)]


def _more(query: AppsQuery, user: UserClient, after: str) -> Response:
    apps = user.apps(query.filter(), limit=STEP, after=after)
    context = _list_context(query, apps, _overview(fresh=False))
    part = "dashboard/apps/_more.html"
    return page(part, part, url=query.url(), focus=True, **context)


def _list_context(query: AppsQuery, apps: PageOf[App], known: Overview | None) -> dict[str, Any]:
    shown = min(query.shown, apps.total)
    return {
        "query": query,
        "apps": apps.items,
        "total": apps.total,
        "shown": shown,
        "next_cursor": apps.end_cursor if shown < MOST else "",
        "more_url": query.url(shown=query.shown + STEP),
        "step": min(STEP, apps.total - shown),
        "overview": known,
        "badges": known.badges() if known else {},
        "using": (uses_by_account() or {}) if known and known.needing else {},
    }


def _cards(user: UserClient, filters: AppFilter, count: int) -> PageOf[App]:
    items: list[App] = []
    cursor, total = "", 0
    while len(items) < count:
        apps = user.apps(filters, limit=min(_CHUNK, count - len(items)), after=cursor)
        items += apps.items
        cursor, total = apps.end_cursor, apps.total
        if not cursor or not apps.items:
            break
    return PageOf(data=tuple(items), page_info=PageInfo(total_count=total, end_cursor=cursor))


def _overview(*, fresh: bool) -> Overview | None:
    """The person's accounts, for badges; the page stands without them when they cannot be read."""
    try:
        return known_accounts(fresh=fresh)
    except PatchbayError:
        g.service_failed = True
        return None


def _catalog(user: UserClient) -> Catalog:
    board = dashboard()
    known = board.catalogs.get("all")
    if known:
        return known
    total = user.apps(AppFilter(), limit=1).total
    return board.catalogs.put("all", Catalog(tuple(user.categories()), total))
