"""The apps of the catalog (contract "Apps"): searched, sorted and paged; and one app by its slug or id."""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import orjson
from flask import Response
from pydantic import Field

from webapp.service.api.accounts import app_models
from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Data, Extensions, Flag, Page, Paged, Query, SearchWords
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.catalog.app import App
from webapp.service.catalog.search import Subset
from webapp.service.domain.accounts import apps, oauth_app_checks, oauth_apps
from webapp.service.domain.instance.pieces import origins

APPS = Group("Apps", "The catalog: what can be connected, and how.")
APP = PathParameter("app", "The app's slug or id.", "sandbox")
operations = Operations(APPS, APP)


Slug = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,100}$")]


class AppFilter(Query):
    """What narrows the list; a ``has_`` filter narrows when true."""

    q: SearchWords = None
    has_components: Flag | None = Field(None, description="Only apps with actions or triggers.")
    has_actions: Flag | None = Field(None, description="Only apps with actions.")
    has_triggers: Flag | None = Field(None, description="Only apps with triggers.")


class AppList(AppFilter, Paged):
    """Which apps, in which order."""

    lists: ClassVar[frozenset[str]] = frozenset({"category_ids", "among", "without"})
    sort_key: Literal["name", "name_slug", "featured_weight"] | None = Field(None, description="What to sort by.")
    sort_direction: Literal["asc", "desc"] | None = Field(None, description="Upwards or downwards.")
    category_ids: list[Annotated[str, Field(pattern=r"^appcat_[a-zA-Z0-9]+$")]] = Field(
        default_factory=list, description="Only apps in one of these categories; repeat it, or separate ids by commas."
    )
    ready: Flag | None = Field(
        None, description="Only apps that can be used here; when false, only those that wait for an OAuth client."
    )
    among: list[Slug] = Field(default_factory=list, max_length=200, description="Only these apps, by slug.")
    without: list[Slug] = Field(default_factory=list, max_length=200, description="All but these apps, by slug.")
    extensions: Extensions = False


class AppOptions(Query):
    """Whether to add Patchbay's own fields."""

    extensions: Extensions = False


@operations.get(
    "/v1/connect/apps",
    answer=Page[app_models.ListedApp],
    query=AppList,
    example=Example(query={"q": "tasks", "limit": "5"}),
)
def list_apps(call: Call) -> Response:
    """Apps of the catalog, featured ones first unless sorted otherwise."""
    query, clients = call.query(AppList), frozenset[str]()
    if query.extensions or query.ready is not None:
        clients = oauth_apps.apps_with_client(call.service.store, call.caller.project_id)
    known = clients if query.ready is not None else frozenset()
    rows = call.service.catalog.search(
        q=query.q,
        category_ids=query.category_ids,
        has_components=query.has_components,
        has_actions=query.has_actions,
        has_triggers=query.has_triggers,
        sort_key=query.sort_key,
        sort_direction=query.sort_direction,
        subset=Subset(frozenset(query.among), frozenset(query.without), query.ready, known),
        window=query.window,
    )
    own = oauth_apps.own_clients(call.service.store, call.caller.project_id)
    if query.extensions:
        return answer_page(rows, lambda app: _extended(app, own.get(app.slug), app.ready(clients)))
    return answer_page(rows, lambda app: orjson.Fragment(app.with_client(own.get(app.slug))))


@operations.get("/v1/connect/apps/<app>", answer=Data[app_models.AppDetails], query=AppOptions)
def get_app(call: Call) -> Response:
    """One app."""
    app = call.service.app(call.path["app"])
    own = oauth_apps.own_clients(call.service.store, call.caller.project_id).get(app.slug)
    if call.query(AppOptions).extensions:
        return answer({"data": {**_with_extensions(call, app), "oauth_app_id": own}})
    return answer({"data": orjson.Fragment(app.with_client(own))})


def _extended(app: App, oauth_app_id: str | None, ready: bool) -> orjson.Fragment:
    """The App object, whether it can be used here, how many components the app has, and whether it was added here."""
    counts = {"actions": app.actions, "triggers": app.triggers}
    extensions = orjson.dumps({"ready": ready, **counts, "added": app.own})
    return orjson.Fragment(app.with_client(oauth_app_id).removesuffix(b"}") + b',"patchbay":' + extensions + b"}")


def _with_extensions(call: Call, app: App) -> dict[str, Any]:
    """The app with whether it can be connected here, and its scopes in words."""
    why_not = apps.why_not(call.service, app, call.caller.project_id or "")
    extensions = {
        "ready": app.auth_type == "none" or why_not is None,
        "connectable": why_not is None,
        "why_not": why_not,
        "scopes": [{"scope": scope.scope, "words": scope.words} for scope in app.spec.scopes],
        "docs_url": app.spec.docs_url,
        "set_up": _set_up(call, app),
        "actions": app.actions,
        "triggers": app.triggers,
        "ways": _named(call, call.service.catalog.ways(app)),
        "pieces": [origin.to_json() for origin in origins.of_app(call.store, app.slug)],
    }
    return {**app.api_dict, "patchbay": extensions}


def _set_up(call: Call, app: App) -> dict[str, Any] | None:
    """How an OAuth client for the app is made; None for an app that needs none."""
    if app.oauth is None:
        return None
    note, uri = app.oauth.client, oauth_apps.new_redirect_uri(call.service, app.slug)
    family = map(call.service.app, oauth_apps.family(call.service, app.slug))
    return {
        **note.model_dump(mode="json", exclude={"source"}),
        "redirect_uri": uri,
        "steps": [step.replace("{redirect_uri}", uri) for step in note.steps],
        "provider": app.provider_name,
        "family": _named(call, family),
        "checkable": oauth_app_checks.is_possible(app),
    }


def _named(call: Call, apps: Iterable[App]) -> list[dict[str, Any]]:
    """``apps`` by name, and whether each can be used here."""
    clients = oauth_apps.apps_with_client(call.service.store, call.caller.project_id)
    return [{"name_slug": app.slug, "name": app.name, "ready": app.ready(clients)} for app in apps]
