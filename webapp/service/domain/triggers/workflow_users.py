"""Which deployed triggers send their events to a workflow, as ``trigger_webhooks`` notes it."""

from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers.deployed_triggers import ROWS, DeployedTrigger
from webapp.store.contract import Reader

_USING = (
    "id IN (SELECT trigger_id FROM trigger_workflows WHERE endpoint_id = :workflow) "
    "AND project_id = :project AND environment = :environment AND deployed = 1"
)


def first(reader: Reader, scene: Scene, workflow: Endpoint, limit: int) -> list[DeployedTrigger]:
    """At most ``limit`` triggers of ``scene`` that use ``workflow``, the oldest first."""
    params = {**scene.params, "workflow": workflow.id, "limit": limit}
    return ROWS.all(reader, f"{_USING} ORDER BY created_at, id LIMIT :limit", params)


def count(reader: Reader, scene: Scene, workflow: Endpoint) -> int:
    """How many triggers of ``scene`` use ``workflow``."""
    return ROWS.count(reader, _USING, {**scene.params, "workflow": workflow.id})
