"""``patchbay project``: creates, changes and lists projects."""

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import Invalid
from webapp.kit.cursors import MAX_LIMIT, Window
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project


@click.group()
def project() -> None:
    """Projects: what accounts, tokens and triggers belong to."""


@project.command("create")
@click.option("--name", required=True, help="What people see it called.")
@click.option("--app-name", default="", help="The name on the Connect Link (the project's name).")
@click.option("--support-email", default="", help="Where people who get stuck can write to.")
@JSON
def create(name: str, app_name: str, support_email: str, as_json: bool) -> None:
    """Make a project."""
    if not name.strip():
        raise Invalid("A project needs a name; give one with --name.")
    with opened() as service:
        new_project = projects.create(
            service, name=name.strip(), app_name=app_name.strip(), support_email=support_email
        )
    show(new_project.to_json(), as_json, "The project was made.")


@project.command("update")
@click.argument("project_id")
@click.option("--name", default="", help="What it is called here.")
@click.option("--app-name", default="", help="The name on the Connect Link.")
@click.option("--support-email", default="", help="Where people who get stuck can write to.")
@JSON
def update(project_id: str, name: str, app_name: str, support_email: str, as_json: bool) -> None:
    """Change the names of a project. What is not given stays unchanged."""
    with opened() as service:
        existing = projects.get(service.store, project_id)
        updated = changed(service, existing, name=name, app_name=app_name, support_email=support_email)
    show(updated.to_json(), as_json, "The project now reads:")


@project.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Every project, oldest first."""
    with opened() as service:
        rows = [{"id": project.id, "name": project.name, "app_name": project.app_name} for project in every(service)]
    table(rows, as_json, "projects", "There is no project yet; `patchbay project create --name N` makes one.")


def changed(service: Service, existing: Project, **texts: str) -> Project:
    """Update ``existing`` with those of ``texts`` that are not empty. Raises :class:`Invalid`."""
    changes = {field: text for field, text in texts.items() if text}
    return projects.update(service, existing, **changes) if changes else existing


def every(service: Service) -> list[Project]:
    """All projects, oldest first."""
    listed: list[Project] = []
    after: str | None = None
    while after != "":
        page = projects.page(service.store, Window(MAX_LIMIT, after=after))
        listed, after = [*listed, *page.items], page.end_cursor
    return listed
