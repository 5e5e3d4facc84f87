"""The apps of the catalog (contract "Apps"): searched, sorted and paged; and one app by its slug or id."""

from typing import Annotated, Any, ClassVar, Literal

import orjson
from flask import Response
from pydantic import Field

from webapp.service.api.accounts import app_models
from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Data, Extensions, Flag, Page, Paged, Query, SearchWords
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.catalog.index import App
from webapp.service.domain.accounts import apps, provider_clients

APPS = Group("Apps", "The catalog: what can be connected, and how.")
APP = PathParameter("app", "The app's slug or id.", "sandbox")
operations = Operations(APPS, APP)


class AppFilter(Query):
    """What narrows the list; a ``has_`` filter narrows when true."""

    q: SearchWords = None
    has_components: Flag | None = Field(None, description="Only apps with actions or triggers.")
    has_actions: Flag | None = Field(None, description="Only apps with actions.")
    has_triggers: Flag | None = Field(None, description="Only apps with triggers.")


class AppList(AppFilter, Paged):
    """Which apps, in which order."""

    lists: ClassVar[frozenset[str]] = frozenset({"category_ids"})
    sort_key: Literal["name", "name_slug", "featured_weight"] | None = Field(None, description="What to sort by.")
    sort_direction: Literal["asc", "desc"] | None = Field(None, description="Upwards or downwards.")
    category_ids: list[Annotated[str, Field(pattern=r"^appcat_[a-zA-Z0-9]+$")]] = Field(
        default_factory=list, description="Only apps in one of these categories; repeat it, or separate ids by commas."
    )
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
    query = call.query(AppList)
    rows = call.service.catalog.search(
        q=query.q,
        category_ids=query.category_ids,
        has_components=query.has_components,
        has_actions=query.has_actions,
        has_triggers=query.has_triggers,
        sort_key=query.sort_key,
        sort_direction=query.sort_direction,
        window=query.window,
    )
    own = provider_clients.own_clients(call.service.store, call.caller.project_id)
    to_json = _with_counts if query.extensions else App.with_client
    return answer_page(rows, lambda app: orjson.Fragment(to_json(app, own.get(app.slug))))


@operations.get("/v1/connect/apps/<app>", answer=Data[app_models.AppDetails], query=AppOptions)
def get_app(call: Call) -> Response:
    """One app."""
    app = call.service.app(call.path["app"])
    own = provider_clients.own_clients(call.service.store, call.caller.project_id).get(app.slug)
    if call.query(AppOptions).extensions:
        return answer({"data": {**_with_extensions(call, app), "oauth_app_id": own}})
    return answer({"data": orjson.Fragment(app.with_client(own))})


def _with_counts(app: App, oauth_app_id: str | None) -> bytes:
    """The App object, and how many components the app has."""
    counts = orjson.dumps({"actions": app.actions, "triggers": app.triggers})
    return app.with_client(oauth_app_id).removesuffix(b"}") + b',"patchbay":' + counts + b"}"


def _with_extensions(call: Call, app: App) -> dict[str, Any]:
    """The app with whether it can be connected here, and its scopes in words."""
    why_not = apps.why_not(call.service, app, call.caller.project_id or "")
    extensions = {
        "connectable": why_not is None,
        "why_not": why_not,
        "scopes": [{"scope": scope.scope, "words": scope.words} for scope in app.spec.scopes],
        "docs_url": app.spec.docs_url,
        "actions": app.actions,
        "triggers": app.triggers,
    }
    return {**app.api_dict, "patchbay": extensions}
