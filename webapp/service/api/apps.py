"""The apps of the catalog (contract "Apps"): search, order and pages; one app by slug or id; and the categories."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal

import orjson
from flask import Response
from pydantic import Field

from webapp.errors import NotFound
from webapp.kit.clock import iso
from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import (
    Answer,
    AppOrigin,
    Data,
    DateTime,
    Extensions,
    Flag,
    Page,
    Paged,
    PieceOrigin,
    Query,
    SearchWords,
    Slug,
    identifier,
)
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.catalog.app import App as CatalogApp
from webapp.service.catalog.search import EVERYTHING, Filter, State, States, Subset
from webapp.service.domain.accounts import connections, oauth_app_checks, oauth_apps, redirect_uris
from webapp.service.domain.components import held_tools
from webapp.service.domain.instance import api_extensions
from webapp.service.domain.pieces import uses

APPS = Group("Apps", "The catalog: what can be connected, and how.")
APP = PathParameter("app", "The app's slug or id.", "sandbox")
CATEGORY_ID = PathParameter("category_id", "The category's id (`appcat_…`).", "$CATEGORY_ID")
operations = Operations(APPS, APP, CATEGORY_ID)
AuthType = Literal["oauth", "keys", "none"]
Connects = Literal["registers", "client", "key", "none"]


class AppFilter(Query):
    """The filters of the list; a ``has_`` filter applies if true."""

    q: SearchWords = None
    has_components: Flag | None = Field(None, description="Only apps with actions or triggers.")
    has_actions: Flag | None = Field(None, description="Only apps with actions.")
    has_triggers: Flag | None = Field(None, description="Only apps with triggers.")

    def narrowed(self, category_ids: Sequence[str] = (), subset: Subset = EVERYTHING) -> Filter:
        """It as the catalog takes it, within ``category_ids`` and ``subset``."""
        return Filter.of(self.q, category_ids, self.has_components, self.has_actions, self.has_triggers, subset)


class AppList(AppFilter, Paged):
    """Which apps, in which order."""

    lists: ClassVar[frozenset[str]] = frozenset({"category_ids", "among", "without", "states", "connected"})
    sort_key: Literal["name", "name_slug", "featured_weight"] | None = Field(None, description="What to sort by.")
    sort_direction: Literal["asc", "desc"] | None = Field(None, description="Upwards or downwards.")
    category_ids: list[Annotated[str, Field(pattern=r"^appcat_[a-zA-Z0-9]+$")]] = Field(
        default_factory=list, description="Only apps in one of these categories; repeat it, or separate ids by commas."
    )
    ready: Flag | None = Field(
        None, description="Only apps that can be used here; when false, only those to be set up first."
    )
    among: list[Slug] = Field(default_factory=list, max_length=200, description="Only these apps, by slug.")
    without: list[Slug] = Field(default_factory=list, max_length=200, description="All but these apps, by slug.")
    states: list[State] = Field(
        default_factory=list,
        description="Only apps in these states, those that are `connected` first, then those that are `ready`, then "
        "those to be set up; the answer counts each state.",
    )
    connected: list[Slug] = Field(
        default_factory=list, max_length=200, description="With `states`, the apps that are connected, by slug."
    )
    extensions: Extensions = False


class AppOptions(Query):
    """Whether to add Patchbay's own fields."""

    extensions: Extensions = False


class ScopeProfile(Answer):
    """A named choice of OAuth scopes."""

    name: str = Field(examples=["read_only"])
    scopes: list[str] = Field(examples=[["repo"]])


class App(Answer):
    """An app of the catalog. `custom_fields_json` is a JSON array in a string."""

    id: str = Field(examples=["app_1K7bQx9dTz"])
    name_slug: str = Field(examples=["github"])
    name: str = Field(examples=["GitHub"])
    img_src: str = Field(examples=["https://connect.example.com/v1/…/github.svg"])
    custom_fields_json: str = Field(examples=["[]"])
    categories: list[str] = Field(examples=[["Developer tools"]])
    featured_weight: float = Field(examples=[90])
    description: str = Field(examples=[""])
    auth_type: AuthType
    scope_profiles: list[ScopeProfile]
    oauth_app_id: str | None = Field(examples=["oa_7Mc2Wb"])


class ScopeDescription(Answer):
    """The access that a scope gives, in words."""

    scope: str = Field(examples=["*"])
    words: str


class Shape(Answer):
    """The pattern of a value: a regular expression for all of it, and the sentence about a value that does not
    match.
    """

    pattern: str
    advice: str


class SetUpNote(Answer):
    """Something good to know, with where to read on."""

    text: str
    url: str | None = None


class AppInFamily(Answer):
    """Another app of the same provider."""

    name_slug: str = Field(examples=["google_drive"])
    name: str = Field(examples=["Google Drive"])
    ready: bool


class SetUp(Answer):
    """Instructions for adding the OAuth client: where and how to create it, and the redirect URI to register.

    In `steps` and `notes`, `**…**` surrounds words of the provider's own pages.
    """

    redirect_uri: str = Field(examples=["https://connect.example.com/connect/oauth/callback/github"])
    console_url: str | None = Field(examples=["https://github.com/settings/developers"])
    steps: list[str]
    provider: str = Field(examples=["GitHub"])
    console: str = Field(description="What the page at `console_url` is called, or empty.")
    id_name: str = Field(description="What the provider calls the client ID, or empty.")
    secret_name: str = Field(description="What it calls the client secret, or empty.")
    id_shape: Shape | None
    secret_shape: Shape | None
    notes: list[SetUpNote]
    family: list[AppInFamily] = Field(description="Those that the same client serves, too.")
    checkable: bool = Field(
        description="Whether the provider can be asked, before anybody signs in, if it knows a client."
    )
    read_on: str | None = Field(description="The day on which this was read in the provider's documentation.")


class HostedServer(Answer):
    """The MCP server that the app's provider hosts, whose tools are the actions.

    They are read when the first account is connected or, where none is needed, when an owner imports them.

    `connects`: by signing in, with an OAuth client that `registers` itself or one that somebody has made (`client`), by
    a `key`, or by `none` of these.
    """

    url: str = Field(examples=["https://mcp.example.com/mcp"])
    connects: Connects
    source: str = Field(description="The page of the provider that says so.")
    read_on: str = Field(description="The day on which it was read.", examples=["2026-11-28"])
    changed: list[str] = Field(
        description="Actions whose tool has changed since it was read. They go on; agents ask first.", examples=[[]]
    )


class Way(AppInFamily):
    """Another way to connect the same, and what it can do; `connects` is set for the provider's MCP server."""

    auth_type: AuthType
    signs_in: bool
    connects: Connects | None
    actions: int
    triggers: int


class WholeApi(Answer):
    """The description of an app's whole API: the package and version, and when it was brought (null if it was not).

    `actions` is the number of its operations that an owner added. They are made as the description has them, and not
    curated.
    """

    name_slug: str = Field(examples=["github"])
    package: str = Field(examples=["npm:@octokit/openapi"])
    version: str = Field(examples=["23.0.2"])
    brought_at: DateTime | None
    actions: int


class AppExtensions(Answer):
    """Patchbay's own facts about an app. `set_up` is for apps with OAuth."""

    ready: bool = Field(
        description="Whether it can be used here: it needs no OAuth client that somebody makes, or there is one."
    )
    connectable: bool
    why_not: str | None
    scopes: list[ScopeDescription]
    docs_url: str | None
    set_up: SetUp | None
    actions: int
    triggers: int
    ways: list[Way] = Field(description="The apps that are other ways to connect the same, those that are ready first.")
    server: HostedServer | None = Field(description="The MCP server whose tools are its actions; null for other apps.")
    signs_in: bool = Field(description="Whether people may also sign in to it; `auth_type` is keys.")
    sign_in_ready: bool = Field(description="Whether there is an OAuth client, so that the Connect Link offers it.")
    pieces: list[PieceOrigin] = Field(description="The npm packages from which it, or parts of it, were added.")
    whole_api: WholeApi | None = Field(description="The provider's description of its whole API; null without one.")
    origin: AppOrigin | None = Field(None, description="If it was imported from the public directory: not curated.")


class ListedExtensions(Answer):
    """Whether an app can be used here, and how many components it has."""

    ready: bool
    connects: Connects | None = Field(description="How people connect to the MCP server of the provider that it is.")
    signs_in: bool = Field(False, description="Whether people may also sign in to it; `auth_type` is keys.")
    actions: int
    triggers: int
    added: bool = Field(description="Whether it was added here, such as from npm; the others come with Patchbay.")
    origin: AppOrigin | None = Field(None, description="If it was imported from the public directory: not curated.")


class ListedApp(App):
    """An app in a list; `patchbay` is there when `extensions` were asked for."""

    patchbay: ListedExtensions | None = None


class StateCounts(Answer):
    """The number of apps in each state under the same filters, in whichever states were asked for."""

    connected: int
    ready: int
    setup: int


class AppCounts(Answer):
    """Under the same filters, the number of apps in each state, and of any category in each category, by id."""

    states: StateCounts
    categories: dict[str, int] = Field(examples=[{"appcat_3Vn8Pq": 12}])


class AppPage(Page[ListedApp]):
    """One page of apps; `counts` is there when `states` were asked for."""

    counts: AppCounts | None = None


class AppDetails(App):
    """An app; `patchbay` is there when `extensions` were asked for."""

    patchbay: AppExtensions | None = None


class Category(Answer):
    """A category of apps; `count` is there when `extensions` were asked for."""

    id: str = identifier("appcat_3Vn8Pq")
    name: str = Field(examples=["Developer tools"])
    description: str = Field(examples=[""])
    count: int = 0


class CategoryList(AppFilter, AppOptions):
    """With extensions each category counts its apps, under the same filters as the list of apps."""


@operations.get(
    "/v1/connect/apps",
    answer=AppPage,
    query=AppList,
    older=("/v1/apps",),
    example=Example(query={"q": "tasks", "limit": "5"}),
)
def list_apps(call: Call) -> Response:
    """Apps of the catalog, featured ones first unless sorted otherwise."""
    query, clients = call.query(AppList), frozenset[str]()
    if query.extensions or query.ready is not None or query.states:
        clients = oauth_apps.apps_with_client(call.service.store, call.caller.project_id)
    known = clients if query.ready is not None else frozenset()
    own = oauth_apps.own_clients(call.service.store, call.caller.project_id)

    def draw(app: CatalogApp) -> orjson.Fragment:
        if query.extensions:
            return _extended(app, own.get(app.slug), app.ready(clients))
        return orjson.Fragment(app.with_client(own.get(app.slug)))

    subset = Subset(frozenset(query.among), frozenset(query.without), query.ready, known)
    narrowed = query.narrowed(query.category_ids, subset)
    ordered, catalog = (narrowed, query.sort_key, query.sort_direction, query.window), call.service.catalog
    if not query.states:
        return answer_page(catalog.page(*ordered), draw)
    listed = catalog.by_state(*ordered, States(frozenset(query.states), frozenset(query.connected), clients))
    counts = {"states": listed.counts, "categories": catalog.category_counts(query.narrowed(subset=subset))}
    return answer({**listed.page.to_json(draw), "counts": counts})


@operations.get("/v1/connect/apps/<app>", answer=Data[AppDetails], query=AppOptions, older=("/v1/apps/<app>",))
def get_app(call: Call) -> Response:
    """One app."""
    app = call.service.app(call.path["app"])
    own = oauth_apps.own_clients(call.service.store, call.caller.project_id).get(app.slug)
    if call.query(AppOptions).extensions:
        return answer({"data": {**_with_extensions(call, app), "oauth_app_id": own}})
    return answer({"data": orjson.Fragment(app.with_client(own))})


def _extended(app: CatalogApp, oauth_app_id: str | None, ready: bool) -> orjson.Fragment:
    """The App object, whether it can be used here, how many components the app has, and whether it was added here."""
    added = app.own and not app.server
    counts = {"actions": app.actions, "triggers": app.triggers, "added": added, "origin": app.origin}
    facts = {"ready": ready, "connects": app.server or None, "signs_in": app.signs_in}
    extensions = orjson.dumps({**facts, **counts})
    return orjson.Fragment(app.with_client(oauth_app_id).removesuffix(b"}") + b',"patchbay":' + extensions + b"}")


def _with_extensions(call: Call, app: CatalogApp) -> dict[str, Any]:
    """The app with whether it can be connected here, and its scopes in words."""
    project_id, by_sign_in = call.caller.project_id or "", app.by_sign_in
    why_not = connections.unavailable_reason(call.service, app, project_id)
    lacks_client = app.signs_in and connections.unavailable_reason(call.service, by_sign_in, project_id)
    extensions = {
        "ready": app.ready(()) if app.auth_type == "none" else why_not is None,
        "connectable": why_not is None,
        "why_not": why_not,
        "scopes": [{"scope": scope.scope, "words": scope.words} for scope in by_sign_in.spec.scopes],
        "docs_url": app.spec.docs_url,
        "set_up": _set_up(call, by_sign_in),
        "actions": app.actions,
        "triggers": app.triggers,
        "ways": _ways(call, app),
        "server": _server(call, app),
        "signs_in": app.signs_in,
        "sign_in_ready": app.signs_in and not lacks_client,
        "pieces": [origin.to_json() for origin in uses.of_app(call.store, app.slug)],
        "whole_api": _whole_api(call, app),
        "origin": app.origin,
    }
    return {**app.api_dict, "patchbay": extensions}


def _ways(call: Call, app: CatalogApp) -> list[dict[str, Any]]:
    others = call.service.catalog.ways(app)
    ways = [
        {
            **named,
            "auth_type": other.auth_type,
            "signs_in": other.signs_in,
            "connects": other.server or None,
            "actions": other.actions,
            "triggers": other.triggers,
        }
        for other, named in zip(others, _named(call, others), strict=True)
    ]
    return sorted(ways, key=lambda way: not way["ready"])


def _server(call: Call, app: CatalogApp) -> dict[str, Any] | None:
    server = app.spec.mcp
    if server is None:
        return None
    facts = {"url": server.url, "connects": server.way, "source": server.source}
    changed = [each.component_key for each in held_tools.waiting(call.store, app.slug)]
    return {**facts, "read_on": server.read_on.isoformat(), "changed": changed}


def _whole_api(call: Call, app: CatalogApp) -> dict[str, Any] | None:
    base = call.service.catalog.app(app.spec.of) if app.spec.of else app
    views = api_extensions.views(call.service, base) if base else []
    if base is None or not views:
        return None
    here = [view.extension for view in views if view.extension]
    origin = here[0].origin if here else views[0].place
    return {
        "name_slug": base.slug,
        "package": origin.package,
        "version": origin.version,
        "brought_at": iso(here[0].origin.brought_at) if here else None,
        "actions": sum(each.count for each in here),
    }


def _set_up(call: Call, app: CatalogApp) -> dict[str, Any] | None:
    """How to create an OAuth client for the app; None for an app that needs none."""
    if app.oauth is None:
        return None
    note, uri = app.oauth.client, redirect_uris.of_new_client(call.service, app.slug)
    family = map(call.service.app, oauth_apps.family(call.service, app.slug))
    return {
        **note.model_dump(mode="json", exclude={"source"}),
        "redirect_uri": uri,
        "steps": [step.replace("{redirect_uri}", uri) for step in note.steps],
        "provider": app.provider_name,
        "family": _named(call, family),
        "checkable": oauth_app_checks.is_possible(app),
    }


def _named(call: Call, apps: Iterable[CatalogApp]) -> list[dict[str, Any]]:
    """``apps`` by name, and whether each can be used here."""
    clients = oauth_apps.apps_with_client(call.service.store, call.caller.project_id)
    return [{"name_slug": app.slug, "name": app.name, "ready": app.ready(clients)} for app in apps]


@operations.get("/v1/connect/app_categories", answer=list[Category], query=CategoryList)
def list_app_categories(call: Call) -> Response:
    """Every category that holds an app, by name."""
    query = call.query(CategoryList)
    categories = [category.api_dict for category in call.service.catalog.categories()]
    if query.extensions:
        counts = call.service.catalog.category_counts(query.narrowed())
        categories = [{**category, "count": counts[category["id"]]} for category in categories]
    return answer(categories)


@operations.get("/v1/connect/app_categories/<category_id>", answer=Category)
def get_app_category(call: Call) -> Response:
    """One category, not wrapped."""
    category = call.service.catalog.category(call.path["category_id"])
    if category is None:
        raise NotFound("There is no such app category.")
    return answer(category.api_dict)
