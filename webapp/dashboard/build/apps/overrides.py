"""App overrides: named preset values for the fields of an app."""

from collections.abc import Mapping
from typing import Any

from flask import flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.apps.apps import back, blueprint, question
from webapp.dashboard.build.menu import by_field
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.build.app_overrides import AppOverride, AppOverrides
from webapp.dashboard.client.build.oauth_apps import OAuthApps
from webapp.dashboard.client.models.accounts import App, CustomField
from webapp.dashboard.dashboard import service, viewer
from webapp.dashboard.pages import go
from webapp.errors import Conflict, Invalid
from webapp.kit.translation import gettext

MOST_LISTED = 100
MAX_QUERY = 200
_FIELD = "cfmap."  # before the name of a field, in a form and in what is wrong with it


@blueprint.get("/overrides/new")
def new_override() -> AnyResponse:
    """Ask for the app, then for the values."""
    slug = request.args.get("app", "")
    if not slug:
        return make_response(render_template("dashboard/build/apps/choose.html", **_choices(request.args.get("q", ""))))
    return _page(service().app(slug), None, {})


@blueprint.post("/overrides")
def create_override() -> AnyResponse:
    """Make it."""
    app = service().app(request.form.get("app", ""))
    try:
        override = _overrides().create(app.slug, _entered(app))
    except (Invalid, Conflict) as error:
        return _page(app, None, _by_field(error, app), 422)
    flash(gettext("“{name}” is created.").format(name=override.name), "ok")
    return back("overrides")


@blueprint.get("/overrides/<override_id>")
def override(override_id: str) -> AnyResponse:
    """One override, with the form that changes it."""
    known = _overrides().get(override_id)
    return _page(service().app(known.app.slug), known, {})


@blueprint.post("/overrides/<override_id>")
def change_override(override_id: str) -> AnyResponse:
    """Change it."""
    known = _overrides().get(override_id)
    app = service().app(known.app.slug)
    try:
        changed = _overrides().change(override_id, _entered(app))
    except (Invalid, Conflict) as error:
        return _page(app, known, _by_field(error, app), 422)
    sentence = gettext("“{name}” is changed. Accounts that were connected with it stay as they are.")
    flash(sentence.format(name=changed.name), "ok")
    return back("overrides")


@blueprint.get("/overrides/<override_id>/removal")
def ask_override_removal(override_id: str) -> str:
    """Ask before it is deleted, and say what stops."""
    known = _overrides().get(override_id)
    return question(
        heading=gettext("Delete “{name}”?").format(name=known.name),
        text=gettext("Accounts that were connected with it stay as they are."),
        stops=[gettext("Connect Links that name it stop working.")],
        blocked="",
        button=gettext("Delete"),
        confirm_url=url_for("dashboard.build_apps.delete_override", override_id=known.id),
    )


@blueprint.post("/overrides/<override_id>/removal")
def delete_override(override_id: str) -> AnyResponse:
    """Delete it."""
    known = _overrides().get(override_id)
    _overrides().delete(override_id)
    flash(gettext("“{name}” is deleted.").format(name=known.name), "ok")
    return go(url_for("dashboard.build_apps.page", _anchor="overrides"))


def _presettable(app: App) -> list[CustomField]:
    """The fields of ``app`` that may be filled in beforehand: not the secret ones."""
    return [field for field in app.custom_fields if not field.secret]


def _overrides() -> AppOverrides:
    return AppOverrides(viewer().client)


def _choices(query: str) -> dict[str, Any]:
    """The first apps by name, or of those that were searched for, that an override can be made for."""
    query = query.strip()[:MAX_QUERY]
    listed = service().apps(AppFilter(q=query, sort_key="name", sort_direction="asc"), limit=MOST_LISTED)
    apps = [app for app in listed.items if app.takes_clients or _presettable(app)]
    return {"apps": apps, "query": query, "more": listed.total > len(listed.items)}


def _entered(app: App) -> dict[str, Any]:
    """The form in the API's terms; an empty field is not preset."""
    texts = {field.name: request.form.get(_FIELD + field.name, "").strip() for field in _presettable(app)}
    return {
        "name": request.form.get("name", "").strip(),
        "oauth_app_id": request.form.get("oauth_app_id", ""),
        "cfmap": {name: text for name, text in texts.items() if text},
    }


def _by_field(error: Invalid | Conflict, app: App) -> dict[str, str]:
    if isinstance(error, Conflict):
        return {"name": error.message}
    return by_field(error, ("name", "oauth_app_id", *(_FIELD + field.name for field in _presettable(app))))


def _page(app: App, known: AppOverride | None, errors: Mapping[str, str], code: int = 200) -> AnyResponse:
    clients = OAuthApps(viewer().client).list(app=app.slug) if app.takes_clients else None
    page = render_template(
        "dashboard/build/apps/override.html",
        app=app,
        override=known,
        fields=_presettable(app),
        clients=clients.items if clients else (),
        entered=request.form if errors else {},
        errors=errors,
    )
    return make_response(page, code)
