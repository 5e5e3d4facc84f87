"""Named preset values for an app's fields (contract "App overrides"); both environments share them."""

from typing import Any

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.service.api.apps import App
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import (
    Answer,
    AppName,
    Body,
    DateTime,
    Page,
    Paged,
    SearchWords,
)
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.accounts import app_overrides, apps
from webapp.service.domain.accounts.app_overrides import Draft
from webapp.service.domain.base import token_scopes

operations = Operations(
    Group(
        "App overrides",
        "Values that are filled in before anybody is asked: the address of your own GitLab, for example.",
    ),
    PathParameter("app_override_id", "The override's id (`aov_…`).", "$APP_OVERRIDE_ID"),
    read=(token_scopes.PROJECTS_READ,),
    write=(token_scopes.PROJECTS_WRITE,),
    connect=False,
)
ALL, ONE = "P/app_overrides", "P/app_overrides/<app_override_id>"


class AppOverrideList(Paged):
    """Which overrides; ``app`` is a slug or an id."""

    app: AppName = None
    q: SearchWords = None


class AppOverrideChange(Body):
    """The changes of an override; omitted fields are unchanged, and ``cfmap`` replaces the previous one."""

    name: str | None = Field(None, description="What it is called.")
    oauth_app_id: str | None = Field(None, description="The OAuth client's id (`oa_…`).")
    cfmap: dict[str, Any] | None = Field(
        None, description="Values by the names of the app's custom fields; no secret ones."
    )


class NewAppOverride(AppOverrideChange):
    """An override: ``app`` is a slug or an id, ``cfmap`` holds values by the names of the app's custom fields."""

    app: str = Field(description="The app's slug or id.")
    name: str = Field(description="What it is called.")


class AppOverride(Answer):
    """Named preset values for an app's fields."""

    id: str = Field(examples=["aov_9Xe5Lp"])
    name: str = Field(examples=["Our own GitLab"])
    app: App
    oauth_app_id: str | None = Field(examples=["oa_7Mc2Wb"])
    cfmap: dict[str, str]
    owner_id: str = Field(examples=["proj_8Fw3ZsKd"])
    created_at: DateTime
    updated_at: DateTime


@operations.get(ALL, answer=Page[AppOverride], query=AppOverrideList)
def list_app_overrides(call: Call) -> Response:
    """Overrides of the project, oldest first."""
    query = call.query(AppOverrideList)
    app = apps.slug_of(call.service, query.app) if query.app else None
    overrides = app_overrides.page(call.store, call.scene.project_id, query.window, app=app, q=query.q)
    return answer_page(overrides, lambda override: override.to_json(call.service))


@operations.post(
    ALL,
    answer=AppOverride,
    body=NewAppOverride,
    example=Example(body={"app": "gitlab", "name": "Our own GitLab", "cfmap": {}}),
)
def create_app_override(call: Call) -> Response:
    """Make an override."""
    body = call.body(NewAppOverride)
    app = call.service.catalog.app(body.app)
    if app is None:
        raise Invalid.of("app", "There is no such app.")
    draft = Draft(body.name, body.oauth_app_id or None, body.cfmap or {})
    return _answer(call, app_overrides.create(call.service, call.scene.project_id, app, draft))


@operations.get(ONE, answer=AppOverride)
def get_app_override(call: Call) -> Response:
    """One override."""
    return _answer(call, _load(call))


@operations.put(
    ONE,
    answer=AppOverride,
    body=AppOverrideChange,
    example=Example(body={"name": "The GitLab of the company"}),
)
def update_app_override(call: Call) -> Response:
    """Change an override; accounts that were connected with it stay. An empty ``oauth_app_id`` removes that one."""
    override, body = _load(call), call.body(AppOverrideChange)
    oauth_app_id = override.oauth_app_id if body.oauth_app_id is None else body.oauth_app_id or None
    draft = Draft(
        override.name if body.name is None else body.name,
        oauth_app_id,
        override.fields if body.cfmap is None else body.cfmap,
    )
    return _answer(call, app_overrides.update(call.service, override, draft))


@operations.delete(ONE)
def delete_app_override(call: Call) -> Response:
    """Remove an override."""
    app_overrides.remove(call.service, _load(call))
    return no_content()


def _load(call: Call) -> app_overrides.AppOverride:
    return app_overrides.get(call.store, call.scene.project_id, call.path["app_override_id"])


def _answer(call: Call, override: app_overrides.AppOverride) -> Response:
    return answer(override.to_json(call.service))
