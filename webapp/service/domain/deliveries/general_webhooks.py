"""General webhooks, as those have them who look after them: all, or only those of one project."""

from webapp.errors import NotFound
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Environment, Scene
from webapp.store.contract import Reader


def every(reader: Reader, only: str | None = None) -> list[Endpoint]:
    """General webhooks, oldest first; of the project ``only`` where that is given."""
    if only is None:
        return endpoints.select(reader, "owner = 'general' ORDER BY created_at, id")
    where = "owner = 'general' AND project_id = :project ORDER BY created_at, id"
    return endpoints.select(reader, where, {"project": only})


def get(reader: Reader, webhook_id: str, only: str | None = None) -> Endpoint:
    """One of them. Raises :class:`NotFound`."""
    webhook = endpoints.find(reader, webhook_id)
    if webhook is None or webhook.owner != "general" or only not in (None, webhook.project_id):
        raise NotFound("There is no such webhook.")
    return webhook


def scene_of_test(service: Service, webhook: Endpoint, project_id: str | None, environment: Environment) -> Scene:
    """Where a test of ``webhook`` happens: in ``project_id``, else in its own project, else in the default one.

    Raises :class:`NotFound` for a project that the webhook does not hear of.
    """
    project_id = project_id or webhook.project_id or projects.default_id(service, service.store)
    if project_id is None:
        raise NotFound("There is no project yet.")
    projects.get(service.store, project_id, only=webhook.project_id)
    return Scene(project_id, environment)
