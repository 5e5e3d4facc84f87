"""The whole API of an app, for owners: what its provider describes, by tag, with a search; switched on and off, updated
and removed.
"""

from typing import Annotated

from flask import abort, flash, make_response, render_template, request, url_for
from pydantic import StringConstraints
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.apps import app_setup
from webapp.dashboard.build.apps.apps import blueprint
from webapp.dashboard.client.build.extended_apps import ExtendedApp, ExtendedApps
from webapp.dashboard.dashboard import app_of, service, viewer
from webapp.dashboard.pages import ListQuery, at_most, go, within
from webapp.errors import Conflict, Invalid, UpstreamFailed
from webapp.kit.translation import count_of, gettext

PER_PAGE = 50  # operations
MOST_PAGES = 1_000


class ApiQuery(ListQuery):
    """The search, or the tag whose operations are shown, and the number of the page."""

    q: Annotated[str, StringConstraints(strip_whitespace=True), at_most(100)] = ""
    tag: Annotated[str, at_most(200)] = ""
    page: Annotated[int, within(1, MOST_PAGES)] = 1


@blueprint.get("/api/<slug>")
def show_api(slug: str) -> AnyResponse:
    """The page."""
    return _page(slug, ApiQuery.of_request())


@blueprint.post("/api/<slug>")
def switch_api(slug: str) -> AnyResponse:
    """Bring the description, or switch operations on or off by the button that was chosen."""
    form, query = request.form, ApiQuery.model_validate(request.form.to_dict())
    apps, choice = ExtendedApps(viewer().client), form.get("choice", "")
    try:
        if choice == "bring":
            apps.choose(slug, only=[])
        elif choice == "all":
            apps.choose(slug, hosts=_confirmed(slug))  # all that are not deprecated
        elif choice == "confirm":
            apps.choose(slug, add=[], hosts=[form.get("host", "")])
        else:
            apps.choose(slug, add=form.getlist("add"), remove=form.getlist("remove"))
    except (Invalid, Conflict, UpstreamFailed) as error:
        return _page(slug, query, error.message)
    app_setup.changed()
    return go(url_for("dashboard.build_apps.show_api", slug=slug, **query.model_dump(exclude_defaults=True)))


@blueprint.get("/api/<slug>/update")
def show_api_update(slug: str) -> AnyResponse:
    """What the newest release would change."""
    app = service().app(slug)
    try:
        report = ExtendedApps(viewer().client).update(slug)
    except (Invalid, Conflict, UpstreamFailed) as error:
        return _page(slug, ApiQuery(), error.message)
    here = {(document.package, document.version) for document in _extended(slug).documents if document.brought_at}
    is_newest = here >= {(document.package, document.version) for document in report.documents} and not (
        report.added or report.changed or report.removed
    )
    template = "dashboard/build/apps/api_update.html"
    return make_response(render_template(template, app=app, report=report, is_newest=is_newest))


@blueprint.post("/api/<slug>/update")
def update_api(slug: str) -> AnyResponse:
    """Use the releases that were shown."""
    names = ("package", "version", "integrity")
    columns = [request.form.getlist(name) for name in names]
    releases = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=False)]
    if not releases:
        return go(url_for("dashboard.build_apps.show_api_update", slug=slug))
    try:
        report = ExtendedApps(viewer().client).update(slug, releases)
    except (Invalid, Conflict, UpstreamFailed) as error:
        return _page(slug, ApiQuery(), error.message)
    app_setup.changed()
    flash(gettext("The API of {app} is up to date.").format(app=report.name), "ok")
    return go(url_for("dashboard.build_apps.show_api", slug=slug))


@blueprint.get("/api/<slug>/removal")
def ask_api_removal(slug: str) -> str:
    """Ask before it is removed."""
    app, extended = service().app(slug), _extended(slug)
    return render_template(
        "dashboard/build/question.html",
        crumb=app.name,
        heading=gettext("Remove the API of {app}?").format(app=app.name),
        text=gettext("The app’s own actions and all accounts stay. It can be added again."),
        stops=[
            count_of(
                extended.on,
                "{count} action is removed; whoever runs it gets an error.",
                "{count} actions are removed; whoever runs them gets an error.",
            )
        ],
        button=gettext("Remove"),
        confirm_url=url_for("dashboard.build_apps.remove_api", slug=slug),
        back_url=url_for("dashboard.build_apps.show_api", slug=slug),
    )


@blueprint.post("/api/<slug>/removal")
def remove_api(slug: str) -> AnyResponse:
    """Remove it."""
    ExtendedApps(viewer().client).remove(slug)
    app_setup.changed()
    flash(gettext("The API is removed. Accounts stay connected."), "ok")
    return go(url_for("dashboard.build_apps.show_api", slug=slug))


def _extended(slug: str, query: ApiQuery | None = None) -> ExtendedApp:
    """The whole API of the app, with the operations of ``query``; another app's page is a 404."""
    apps = ExtendedApps(viewer().client)
    if query is None:
        extended = apps.get(slug)
    else:
        offset = (query.page - 1) * PER_PAGE
        extended = apps.get(slug, q=query.q, tag=query.tag, offset=offset, limit=PER_PAGE)
    if extended is None:
        abort(404)
    return extended


def _confirmed(slug: str) -> list[str]:
    """The hosts that an owner has confirmed."""
    return list(dict.fromkeys(host for document in _extended(slug).documents for host in document.hosts))


def _page(slug: str, query: ApiQuery, error: str = "") -> AnyResponse:
    extended = _extended(slug, query)
    if query.page > 1 and not extended.operations:
        return go(query.url(page=""))
    template = "dashboard/build/apps/api.html"
    context = {
        "app": app_of(extended.slug) or service().app(extended.slug),
        "extended": extended,
        "query": query,
        "opened": next((tag for tag in extended.tags if tag.name == query.tag), None),
        "first": (query.page - 1) * PER_PAGE + 1,
        "error": error,
    }
    return make_response(render_template(template, **context), 422 if error else 200)
