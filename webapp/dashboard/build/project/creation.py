"""Creating a project: the form for its name; the browser works in it from then on."""

from collections.abc import Mapping

from flask import Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu, project_list, scene
from webapp.dashboard.build.project.project import for_owners, projects
from webapp.dashboard.dashboard import viewer
from webapp.dashboard.pages import go
from webapp.errors import Invalid
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _

blueprint = menu.part_of("project", "creation", "/new")
_MISSING: Mapping[str, str] = {
    "app_name": _("Say what your product is called."),
    "support_email": _("Enter an address, such as help@example.com."),
}


@blueprint.get("")
def page() -> Response:
    """The form."""
    for_owners()
    return _form({}, {})


@blueprint.post("")
def create() -> AnyResponse:
    """Make it, and go there."""
    for_owners()
    fields = {name: request.form.get(name, "").strip() for name in _MISSING}
    if missing := {name: str(sentence) for name, sentence in _MISSING.items() if not fields[name]}:
        return _form(fields, missing)
    try:
        project = projects().create({"name": fields["app_name"], **fields})
    except Invalid as error:
        return _form(fields, menu.by_field(error, _MISSING))
    project_list.changed()
    scene.work_in(project.id, viewer().client.environment)
    flash(gettext("“{name}” is created. You now work in it.").format(name=project.name), "ok")
    return go(url_for("dashboard.build_project.page"))


def _form(fields: dict[str, str], errors: dict[str, str]) -> Response:
    page = render_template("dashboard/build/project/creation.html", fields=fields, errors=errors)
    return make_response(page, 422 if errors else 200)
