"""Apps (specification 2.3, 4.3): the catalog, searched, sorted and paged; one app by its slug or id."""

from typing import Annotated, Any, ClassVar, Literal

import orjson
from flask import Response
from pydantic import Field

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Flag, Paged, Query
from webapp.service.catalog.index import App
from webapp.service.domain.accounts import apps, provider_clients


class AppFilter(Query):
    """What narrows the list; a ``has_`` filter narrows when true."""

    q: str | None = None
    has_components: Flag | None = None
    has_actions: Flag | None = None
    has_triggers: Flag | None = None


class AppList(AppFilter, Paged):
    """Which apps, in which order. ``extensions`` adds what is ours alone."""

    lists: ClassVar[frozenset[str]] = frozenset({"category_ids"})
    sort_key: Literal["name", "name_slug", "featured_weight"] | None = None
    sort_direction: Literal["asc", "desc"] | None = None
    category_ids: list[Annotated[str, Field(pattern=r"^appcat_[a-zA-Z0-9]+$")]] = Field(default_factory=list)
    extensions: Flag = False


class Extended(Query):
    """Whether to add what is ours alone."""

    extensions: Flag = False


def index(call: Call) -> Response:
    """Apps of the catalog, featured ones first unless sorted otherwise."""
    asked = call.query(AppList)
    found = call.service.catalog.search(
        q=asked.q,
        category_ids=asked.category_ids,
        has_components=asked.has_components,
        has_actions=asked.has_actions,
        has_triggers=asked.has_triggers,
        sort_key=asked.sort_key,
        sort_direction=asked.sort_direction,
        window=asked.window,
    )
    own = provider_clients.own_clients(call.service.store, call.caller.project_id)
    shape = _counted if asked.extensions else App.with_client
    return answers.page(found, lambda app: orjson.Fragment(shape(app, own.get(app.slug))))


def show(call: Call) -> Response:
    """One app."""
    app = call.service.app(call.path["app"])
    own = provider_clients.own_clients(call.service.store, call.caller.project_id).get(app.slug)
    if call.query(Extended).extensions:
        return answers.json({"data": {**_extended(call, app), "oauth_app_id": own}})
    return answers.json({"data": orjson.Fragment(app.with_client(own))})


def _counted(app: App, oauth_app_id: str | None) -> bytes:
    """The App object, and how many components the app has."""
    counts = orjson.dumps({"actions": app.actions, "triggers": app.triggers})
    return app.with_client(oauth_app_id).removesuffix(b"}") + b',"patchbay":' + counts + b"}"


def _extended(call: Call, app: App) -> dict[str, Any]:
    """The app with what our own pages show besides: whether it can be connected here, and its scopes in words."""
    why_not = apps.why_not(call.service, app, call.caller.project_id or "")
    listed = app.oauth.scopes if app.oauth else ()
    ours = {
        "connectable": why_not is None,
        "why_not": why_not,
        "scopes": [{"scope": one.scope, "words": one.words} for one in listed],
        "docs_url": app.docs_url,
        "actions": app.actions,
        "triggers": app.triggers,
    }
    return {**app.api_dict, "patchbay": ours}


OPERATIONS = (
    Operation("list_apps", "GET", "/v1/connect/apps", index, query=AppList),
    Operation("get_app", "GET", "/v1/connect/apps/<app>", show, query=Extended),
)
