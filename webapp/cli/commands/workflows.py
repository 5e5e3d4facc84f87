"""``patchbay workflow``: manages workflows, the named URLs of a project to which triggers can send events."""

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import Invalid
from webapp.service.domain.deliveries import endpoints, workflows
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

PROJECT = click.option("--project", "project_id", required=True, help="The project's id.")
ENVIRONMENT = click.option(
    "--environment", default="development", show_default=True, help="development or production.", metavar="E"
)


@click.group()
def workflow() -> None:
    """Workflows: named URLs that triggers send their events to, by an id that begins with p_."""


@workflow.command("add")
@PROJECT
@ENVIRONMENT
@click.option("--name", required=True, help="What it is called.")
@click.option("--url", required=True, help="Where the events go.")
@JSON
def add(project_id: str, environment: str, name: str, url: str, as_json: bool) -> None:
    """Register a workflow. Its signing key is shown once."""
    if not name.strip():
        raise Invalid("A workflow needs a name; give one with --name.")
    with opened() as service:
        scene = Scene(projects.get(service.store, project_id).id, projects.environment(environment))
        endpoint = workflows.add(service, scene, name=name, url=url)
        facts = {
            "id": endpoint.id,
            "name": endpoint.name,
            "url": endpoints.url_of(service, endpoint),
            "signing_key": endpoints.key_of(service, endpoint),
        }
    show(facts, as_json, "The workflow was added; keep the key, it is not shown again.")


@workflow.command("list")
@PROJECT
@ENVIRONMENT
@JSON
def list_(project_id: str, environment: str, as_json: bool) -> None:
    """Every workflow of a project's environment, oldest first."""
    with opened() as service:
        scene = Scene(projects.get(service.store, project_id).id, projects.environment(environment))
        rows = [
            {
                "id": endpoint.id,
                "name": endpoint.name,
                "url": endpoints.url_of(service, endpoint),
                "state": endpoint.state,
            }
            for endpoint in endpoints.of_scene(service.store, scene, "workflow")
        ]
    table(rows, as_json, "workflows", "There is no workflow yet; `patchbay workflow add` registers endpoint.")
