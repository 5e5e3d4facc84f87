"""The actions that were run for somebody lately, read from the history of runs."""

from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader


def keys(reader: Reader, scene: Scene, external_id: str) -> list[str]:
    """The keys of the actions that were run for one external user, the one that was run last first."""
    rows = reader.tuples(
        "SELECT component_key, MAX(started_at) AS latest FROM runs WHERE project_id = :project "
        "AND environment = :environment AND external_id = :external_id "
        "GROUP BY component_key ORDER BY latest DESC, component_key",
        {**scene.params, "external_id": external_id},
    )
    return [key for key, _ in rows]
