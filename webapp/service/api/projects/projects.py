"""The projects that a client sees (contract "Projects"), one of them, and the info call of a frontend."""

from flask import Response

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Page, Paged, SearchWords
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.api.projects import models
from webapp.service.domain.accounts import provider_clients
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project

PROJECTS = Group("Projects", "A project holds users, accounts and triggers, apart for development and production.")
operations = Operations(PROJECTS, read=(scopes.PROJECTS_READ,))


class ProjectList(Paged):
    """Which projects."""

    q: SearchWords = None


@operations.get(
    "/v1/connect/projects",
    answer=Page[models.Project],
    connect=False,
    query=ProjectList,
    example=Example(query={"limit": "10"}),
)
def list_projects(call: Call) -> Response:
    """Projects that the client sees, oldest first."""
    query = call.query(ProjectList)
    rows = projects.page(call.store, query.window, q=query.q, only=call.caller.project_id)
    return answer_page(rows, Project.to_json)


@operations.get("/v1/connect/projects/<project_id>", answer=models.Project, connect=False)
def get_project(call: Call) -> Response:
    """One project."""
    project = projects.get(call.store, call.path["project_id"], only=call.caller.project_id)
    return answer(project.to_json())


@operations.get("P/projects/info", answer=models.ProjectInfo)
def get_project_info(call: Call) -> Response:
    """The apps for which the project has an OAuth client of its own."""
    slugs = provider_clients.own_clients(call.store, call.scene.project_id)
    apps = [app for app in map(call.service.catalog.app, slugs) if app]
    return answer({"apps": [{"id": app.id, "name_slug": app.slug} for app in apps]})
