"""General webhooks, as those have them who look after them: all, or only those of one project."""

from webapp.errors import NotFound
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
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
