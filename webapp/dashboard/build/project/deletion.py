"""Deleting the viewer's project: the confirmation with all that is deleted, and the deletion.

The dashboard's default project cannot be deleted, and so neither can the last one.
"""

from flask import Response, abort, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu, project_list, scene
from webapp.dashboard.build.project.project import for_owners, load, projects
from webapp.dashboard.client.build.projects import Project
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.errors import Conflict
from webapp.kit.translation import gettext

blueprint = menu.part_of("project", "deletion", "/deletion")


@blueprint.get("")
def page() -> Response:
    """Ask, and say what goes."""
    return _ask(_loaded())


@blueprint.post("")
def delete() -> AnyResponse:
    """Delete it, once its name was typed; the dashboard then works in the other one."""
    project = _loaded()
    if request.form.get("name", "").strip() != project.name:
        return _ask(project, gettext("Type the name exactly as it stands here: {name}").format(name=project.name))
    try:
        projects().delete(project.id)
    except Conflict as error:
        return _ask(project, error.message)
    project_list.changed()
    scene.work_in("", viewer().client.environment)
    flash(gettext("“{name}” is deleted.").format(name=project.name), "ok")
    return go(url_for("dashboard.build_project.page"))


def _loaded() -> Project:
    for_owners()
    project = load()
    return abort(404) if project.id == dashboard().client.project_id else project


def _ask(project: Project, error: str = "") -> Response:
    page = render_template("dashboard/build/project/deletion.html", project=project, error=error)
    return make_response(page, 422 if error else 200)
