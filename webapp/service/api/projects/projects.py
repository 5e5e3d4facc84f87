"""Projects (specification 4.4): the ones a client sees, one of them, and the info call of a frontend."""

from flask import Response

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Paged
from webapp.service.domain.accounts import provider_clients
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project


class ProjectList(Paged):
    """Which projects."""

    q: str | None = None


def index(call: Call) -> Response:
    """Projects that the client sees, oldest first."""
    asked = call.query(ProjectList)
    found = projects.page(call.store, asked.window, q=asked.q, only=call.caller.project_id)
    return answers.page(found, Project.to_json)


def show(call: Call) -> Response:
    """One project."""
    found = projects.get(call.store, call.path["project_id"], only=call.caller.project_id)
    return answers.json(found.to_json())


def info(call: Call) -> Response:
    """The apps for which the project has an OAuth client of its own."""
    slugs = provider_clients.own_clients(call.store, call.scene.project_id)
    found = [app for app in map(call.service.catalog.app, slugs) if app]
    return answers.json({"apps": [{"id": app.id, "name_slug": app.slug} for app in found]})


READ = (scopes.PROJECTS_READ,)
OPERATIONS = (
    Operation("list_projects", "GET", "/v1/connect/projects", index, READ, connect=False, query=ProjectList),
    Operation("get_project", "GET", "/v1/connect/projects/<project_id>", show, READ, connect=False),
    Operation("get_project_info", "GET", "P/projects/info", info, READ),
)
