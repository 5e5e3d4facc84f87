"""The Apps page, with search, filters and cards, and the page of one app: the person's accounts, actions, triggers.

The page of an action or trigger is left to :mod:`.component.component`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, get_args

from flask import Blueprint, current_app, g, render_template, request, url_for
from markupsafe import Markup
from pydantic import StringConstraints
from werkzeug.exceptions import NotFound as NoPage
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import app_groups, shell, words
from webapp.dashboard.app_cards import Cards
from webapp.dashboard.app_groups import Catalog, Groups
from webapp.dashboard.build import checklist, project_list
from webapp.dashboard.build.apps import app_setup
from webapp.dashboard.client.accounts import AppFilter, UserClient
from webapp.dashboard.client.models.accounts import App, Category
from webapp.dashboard.client.models.components import Component, FoundComponent, Kind
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.overview import Overview, read_accounts
from webapp.dashboard.dashboard import (
    app_of,
    components,
    dashboard,
    if_up,
    known_accounts,
    known_apps,
    search_components,
    service,
    uses_by_account,
    viewer,
)
from webapp.dashboard.pages import ListQuery, address, among, at_most, page, wants_fragment, within
from webapp.dashboard.rich import rich
from webapp.errors import PatchbayError
from webapp.kit.translation import language, translated
from webapp.people import roles

blueprint = Blueprint("apps", __name__)
tabs = Blueprint("components", __name__)

STEP = 24
CATEGORIES, FEWEST_FOLDED = 10, 3  # two rows of chips, and how many more are worth folding
STARTERS = 3  # of each kind, for a newcomer
COMPONENTS = 50  # on one page of a tab
MATCHES = 6  # actions and triggers below the apps of a search
SHORTEST_QUERY = 2  # characters
MOST = 480  # cards on one page; a search finds the rest faster
SORTS = {"featured": ("featured_weight", "desc"), "name": ("name", "asc"), "name-desc": ("name", "desc")}


class FoundRow(NamedTuple):
    """What the Apps page shows of an action or trigger that a search found: ``app`` and ``image`` are its app's."""

    url: str
    title: str
    app: str
    image: str
    kind: Kind
    gist: str


class AppsQuery(ListQuery):
    """The filters, the order and the number of cards; ``after`` is the cursor of a group, only for htmx."""

    q: Annotated[str, StringConstraints(strip_whitespace=True), at_most(200)] = ""
    category: Annotated[str, at_most(64)] = ""
    has_actions: bool = False
    has_triggers: bool = False
    state: Annotated[str, among(app_groups.STATES)] = ""
    sort: Annotated[str, among(SORTS)] = "featured"
    shown: Annotated[int, within(STEP, MOST)] = STEP
    after: str = ""

    @property
    def searches(self) -> bool:
        """Whether there are filters besides the chips and the groups."""
        return bool(self.q or self.has_actions or self.has_triggers)

    def filter(self) -> AppFilter:
        """The filters as parameters of the API."""
        key, direction = SORTS[self.sort]
        return AppFilter(self.q, self.category, self.has_actions, self.has_triggers, key, direction)


@blueprint.get("/apps")
def index() -> AnyResponse:
    """Search, filters and cards; for htmx only the results, or only the cards after a cursor."""
    query = AppsQuery.of_request()
    after, query = query.after, query.model_copy(update={"after": ""})
    if after and wants_fragment():
        part = "dashboard/apps/_more.html"
        return page(part, part, url=query.url(), focus=True, **_context(query, fresh=False, after=after))
    context = _context(query, fresh=not wants_fragment())
    context["unnamed"] = not wants_fragment() and project_list.needs_support_address()
    context["checklist"] = None if wants_fragment() or query.filtered else checklist.on_apps()
    return page("dashboard/apps/index.html", "dashboard/apps/_results.html", url=query.url(), **context)


@blueprint.get("/apps/<slug>")
def show(slug: str) -> str:
    """The page of an app: how it connects, the person's accounts, and its permissions."""
    user = service()
    app = user.app(slug)
    setup = None if app.ready else app_setup.view(app)
    accounts = _accounts(user, app)
    code = request.args.get("error", "")
    return render_template(
        "dashboard/apps/show.html",
        app=app,
        accounts=accounts,
        trouble=words.ending(code, app.name, app_setup.set_up_by()) if code else None,
        access=access(app),
        setup=setup,
        may_extend=roles.may_set_up_apps(viewer().role) and not g.get("portal"),
        may_add_client=app.takes_clients and roles.may_set_up_apps(viewer().role),
        starters=starters(app) if app.ready else [],
    )


@tabs.get("/apps/<slug>/<any(actions, triggers):kind>", endpoint="index")
def list_components(slug: str, kind: Kind) -> AnyResponse:
    """The app's actions or triggers, with a search; for htmx only the list."""
    if not viewer().may(f"connect:{kind}:*"):
        raise NoPage
    q, after = request.args.get("q", "").strip()[:200], request.args.get("after", "")
    app = service().app(slug)
    listing = components().listed(kind, app=app.slug, q=q, limit=COMPONENTS, after=after)
    url = url_for("dashboard.components.index", slug=slug, kind=kind, q=q or None, after=after or None)
    templates = "dashboard/components/index.html", "dashboard/components/_list.html"
    return page(*templates, url=url, app=app, kind=kind, q=q, after=after, page=listing, rich=rich)


def _accounts(user: UserClient, app: App) -> Overview | None:
    """The viewer's accounts of ``app``, or None if it needs none or they may not be seen."""
    seen = app.auth_type != "none" and viewer().may("connect:accounts:read")
    return read_accounts(user, app=app.slug) if seen else None


def permissions(app: App, only: Sequence[str] | None = None) -> list[str]:
    """The descriptions of an app's scopes; a scope without a description is shown as it is."""
    known = app.extras.scopes if app.extras else {}
    scopes = list(known) or sorted({scope for profile in app.scope_profiles for scope in profile.scopes})
    return [translated(known.get(scope, scope)) for scope in (only if only is not None else scopes)]


def access(app: App) -> list[tuple[str, list[str]]]:
    """The descriptions of the scopes of each profile, by its name; the name is "" for an app without profiles."""
    by_profile = [
        (translated(profile.name.replace("_", " ").capitalize()), permissions(app, profile.scopes))
        for profile in app.scope_profiles
        if profile.scopes
    ]
    return by_profile or [("", words) for words in [permissions(app)] if words]


def starters(app: App) -> list[Component]:
    """A few actions and triggers of the app for newcomers, none destructive; empty if they are unavailable."""
    counts = {"actions": app.extras and app.extras.actions, "triggers": app.extras and app.extras.triggers}
    kinds: list[Kind] = [kind for kind in get_args(Kind) if counts[kind] != 0 and viewer().may(f"connect:{kind}:*")]
    listed = [if_up(partial(components().listed, kind, app=app.slug, q="", limit=3 * STARTERS)) for kind in kinds]
    mild = [[each for each in page_of.items if each.effect in ("reads", "changes")] for page_of in listed if page_of]
    return [component for components_of_kind in mild for component in components_of_kind[:STARTERS]]


def _context(query: AppsQuery, *, fresh: bool, after: str = "") -> dict[str, Any]:
    user, known = service(), _overview(fresh=fresh)
    catalog = _catalog(user)
    connected = [slug for slug, _name in known.apps()] if known else []
    apps = app_groups.read(
        user.apps if query.searches else known_apps,
        query.filter(),
        connected if catalog.has_states else None,
        all_states=not g.get("portal"),
        count=STEP if after else query.shown,
        state=query.state,
        after=after,
    )
    shown = min(query.shown, apps.total)
    matches = None if after or query.category else _found(query.q, connected)
    return {
        "found": matches,
        "found_rows": [_row(item, app) for item in matches.items if (app := app_of(item.app))] if matches else [],
        "query": query,
        "catalog": catalog,
        "category_nav": "" if after else _category_nav(user, query, catalog, apps),
        "apps": apps,
        "shown": shown,
        "next_cursor": apps.next_cursor if shown < MOST else "",
        "more_url": query.url(shown=query.shown + STEP),
        "step": min(STEP, apps.total - shown),
        "states": app_groups.STATES,
        "headings": app_groups.HEADINGS,
        "overview": known,
        "cards": Cards(known.badges() if known else {}, app_setup.set_up_by()),
        "using": (uses_by_account() or {}) if known and known.needing else {},
    }


def _category_nav(user: UserClient, query: AppsQuery, catalog: Catalog, apps: Groups) -> Markup:
    """The categories as links: of a search with its counts, else those of the catalog, which are drawn once.

    What is drawn for a portal is not kept, since its address is in the links.
    """
    if not catalog.categories:
        return Markup()
    if query.searches:
        if apps.categories is None:
            return _drawn(query, user.categories(query.filter()))
        matching = [(each, count) for each in catalog.categories if (count := apps.categories.get(each.id))]
        return _drawn(query, [each.model_copy(update={"count": count}) for each, count in matching])
    is_known = not query.category or any(query.category == category.id for category in catalog.categories)
    if g.get("portal") or not is_known:
        return _drawn(query, catalog.categories)
    key = (language(), query.category, query.state, query.sort)
    if key not in catalog.drawn:
        catalog.drawn[key] = _drawn(query, catalog.categories)
    return catalog.drawn[key]


def _drawn(query: AppsQuery, categories: Sequence[Category]) -> Markup:
    """The categories that have apps, in their order; of many, those with the fewest apps are folded.

    Where a search finds no app, there is nothing to choose from.
    """
    filled = [each for each in categories if each.count != 0]
    if not (filled or query.category):
        return Markup()
    largest = sorted(filled, key=lambda each: each.count or 0, reverse=True)
    folded = {each.id for each in largest[CATEGORIES:]} if len(filled) >= CATEGORIES + FEWEST_FOLDED else set[str]()
    template = current_app.jinja_env.get_template("dashboard/apps/_categories.html")
    drawn = template.render(
        query=query,
        shown=[each for each in filled if each.id not in folded],
        folded=[each for each in filled if each.id in folded],
        opens=query.category in folded,
    )
    return Markup(drawn)  # noqa: S704  # of the template


def _found(q: str, connected: Sequence[str]) -> PageOf[FoundComponent] | None:
    """The first actions and triggers of any app that fit ``q``, those of apps ``connected`` before others.

    None without a query, or if they are unavailable.
    """
    if len(q) < SHORTEST_QUERY:
        return None
    try:
        return search_components(q, MATCHES, connected)
    except PatchbayError:
        return None


def _row(item: FoundComponent, app: App) -> FoundRow:
    url = address("dashboard.component.show", slug=app.slug, kind=item.kind, key=item.key)
    return FoundRow(url, item.name, app.name, shell.logo_url(app.logo), item.kind, item.gist)


def _overview(*, fresh: bool) -> Overview | None:
    """The person's accounts, for badges, or None if they are unavailable."""
    try:
        return known_accounts(fresh=fresh)
    except PatchbayError:
        g.service_failed = True
        return None


def _catalog(user: UserClient) -> Catalog:
    board, name = dashboard(), viewer().here("all")
    known = board.catalogs.get(name)
    if known:
        return known
    apps = user.apps(AppFilter(states=",".join(app_groups.STATES)), limit=1)
    return board.catalogs.put(name, Catalog(tuple(user.categories(AppFilter())), apps.total, apps.counts is not None))
