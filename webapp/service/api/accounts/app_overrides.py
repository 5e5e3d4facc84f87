"""App overrides: named preset values for an app's fields (WIRE "app_overrides"); both environments share them."""

from typing import Any

from flask import Response

from webapp.errors import Detail, Invalid
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, Paged
from webapp.service.domain.accounts import app_overrides, apps
from webapp.service.domain.accounts.app_overrides import AppOverride, Draft
from webapp.service.domain.base import scopes


class AppOverrideList(Paged):
    """Which overrides; ``app`` is a slug or an id."""

    app: str | None = None
    q: str | None = None


class AppOverrideChange(Body):
    """What of an override is to change; what is left out stays, and a ``cfmap`` takes the place of the one before."""

    name: str | None = None
    oauth_app_id: str | None = None
    cfmap: dict[str, Any] | None = None


class NewAppOverride(AppOverrideChange):
    """An override: ``app`` is a slug or an id, ``cfmap`` holds values by the names of the app's custom fields."""

    app: str
    name: str


def index(call: Call) -> Response:
    """Overrides of the project, oldest first."""
    asked = call.query(AppOverrideList)
    app = apps.slug_of(call.service, asked.app) if asked.app else None
    found = app_overrides.page(call.store, call.scene.project_id, asked.window, app=app, q=asked.q)
    return answers.page(found, lambda one: one.to_json(call.service))


def create(call: Call) -> Response:
    """Make an override."""
    body = call.body(NewAppOverride)
    app = call.service.catalog.app(body.app)
    if app is None:
        raise Invalid("app is not valid: There is no such app.", [Detail("app", "There is no such app.")])
    draft = Draft(body.name, body.oauth_app_id or None, body.cfmap or {})
    return _shown(call, app_overrides.create(call.service, call.scene.project_id, app, draft))


def show(call: Call) -> Response:
    """One override."""
    return _shown(call, _load(call))


def update(call: Call) -> Response:
    """Change an override; accounts that were connected with it stay. An empty ``oauth_app_id`` removes that one."""
    found, body = _load(call), call.body(AppOverrideChange)
    oauth_app_id = found.oauth_app_id if body.oauth_app_id is None else body.oauth_app_id or None
    draft = Draft(
        found.name if body.name is None else body.name,
        oauth_app_id,
        found.fields if body.cfmap is None else body.cfmap,
    )
    return _shown(call, app_overrides.update(call.service, found, draft))


def remove(call: Call) -> Response:
    """Remove an override."""
    app_overrides.remove(call.service, _load(call))
    return answers.empty()


def _load(call: Call) -> AppOverride:
    return app_overrides.get(call.store, call.scene.project_id, call.path["app_override_id"])


def _shown(call: Call, override: AppOverride) -> Response:
    return answers.json(override.to_json(call.service))


READ, WRITE = (scopes.PROJECTS_READ,), (scopes.PROJECTS_WRITE,)
ALL, ONE = "P/app_overrides", "P/app_overrides/<app_override_id>"
OPERATIONS = (
    Operation("list_app_overrides", "GET", ALL, index, READ, connect=False, query=AppOverrideList),
    Operation("create_app_override", "POST", ALL, create, WRITE, connect=False, body=NewAppOverride),
    Operation("get_app_override", "GET", ONE, show, READ, connect=False),
    Operation("update_app_override", "PUT", ONE, update, WRITE, connect=False, body=AppOverrideChange),
    Operation("delete_app_override", "DELETE", ONE, remove, WRITE, connect=False),
)
