"""Build → Project: the facts of a project that end users read. Owners change them, developers see them."""

from collections.abc import Mapping

from flask import Response, abort, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu, project_list
from webapp.dashboard.client.build.projects import Project, Projects
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.errors import Invalid
from webapp.kit import contrast
from webapp.kit.contrast import DEFAULT_HUE
from webapp.kit.translation import gettext
from webapp.people import roles

blueprint = menu.blueprint("project")

TEXTS = ("name", "app_name", "support_email")
KEY_TEST = "connect_require_key_auth_test"


@blueprint.get("")
def page() -> AnyResponse:
    """The page."""
    return show(load())


@blueprint.post("")
def save() -> AnyResponse:
    """Store the names, the support address and whether keys are tested."""
    for_owners()
    project, form = load(), request.form
    fields = {**{name: form.get(name, "") for name in TEXTS}, KEY_TEST: KEY_TEST in form}
    try:
        projects().update(project.id, fields)
    except Invalid as error:
        return show(project.model_copy(update=fields), menu.by_field(error, TEXTS), 422)
    project_list.changed()
    flash(gettext("The project is saved."), "ok")
    return go(url_for("dashboard.build_project.page"))


def projects() -> Projects:
    """The projects, as the dashboard's own client sees them."""
    return Projects(viewer().client)


def load() -> Project:
    """The viewer's project."""
    return projects().get(viewer().client.project_id)


def for_owners() -> None:
    """Answer 404 to people who are not owners."""
    if not roles.may_change_projects(viewer().role):
        abort(404)


def show(project: Project, errors: Mapping[str, str] | None = None, code: int = 200) -> Response:
    """The page of ``project``, with the errors of a submitted form."""
    may_change = roles.may_change_projects(viewer().role)
    context = {
        "project": project,
        "errors": errors or {},
        "may_change": may_change,
        "may_delete": may_change and project.id != dashboard().client.project_id,
        "chosen_hue": DEFAULT_HUE if project.brand_hue is None else project.brand_hue,
        "contrast_of": contrast.of_hue,
    }
    return make_response(render_template("dashboard/build/project/page.html", **context), code)
