"""The projects that a client sees (contract "Projects"), one of them, and the info call of a frontend."""

from typing import Any

from flask import Response

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Extensions, Page, Paged, Query, SearchWords
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.api.projects import models
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import logos, projects
from webapp.service.domain.projects.projects import Project

PROJECTS = Group("Projects", "A project holds users, accounts and triggers, apart for development and production.")
operations = Operations(PROJECTS, read=(scopes.PROJECTS_READ,))


class ProjectOptions(Query):
    """What a project is shown with."""

    extensions: Extensions = False


class ProjectList(Paged, ProjectOptions):
    """Which projects."""

    q: SearchWords = None


@operations.get(
    "/v1/connect/projects",
    answer=Page[models.ExtendedProject],
    connect=False,
    query=ProjectList,
    example=Example(query={"limit": "10"}),
)
def list_projects(call: Call) -> Response:
    """Projects that the client sees, oldest first."""
    query = call.query(ProjectList)
    rows = projects.page(call.store, query.window, q=query.q, only=call.caller.project_id)
    return answer_page(rows, lambda project: to_json(call, project, query))


@operations.get("/v1/connect/projects/<project_id>", answer=models.ExtendedProject, connect=False, query=ProjectOptions)
def get_project(call: Call) -> Response:
    """One project."""
    project = projects.get(call.store, call.path["project_id"], only=call.caller.project_id)
    return answer(to_json(call, project, call.query(ProjectOptions)))


@operations.get("P/projects/info", answer=models.ProjectInfo)
def get_project_info(call: Call) -> Response:
    """The apps for which the project has an OAuth client of its own."""
    slugs = oauth_apps.own_clients(call.store, call.scene.project_id)
    apps = [app for app in map(call.service.catalog.app, slugs) if app]
    return answer({"apps": [{"id": app.id, "name_slug": app.slug} for app in apps]})


def to_json(call: Call, project: Project, options: ProjectOptions | ProjectList) -> dict[str, Any]:
    """The project as it was asked for."""
    if not options.extensions:
        return project.to_json()
    logo_url = logos.url(call.service, project.id)
    return {**project.to_json(), "brand_hue": project.brand_hue, "logo_url": logo_url}
