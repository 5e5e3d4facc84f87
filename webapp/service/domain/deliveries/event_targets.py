"""Where an event goes: to its trigger's own webhooks and workflows, or without any to the project webhook.

The room of triggers is of a higher rank, so its class is not used here: a :class:`TriggerReference` is enough.
"""

from typing import Protocol

from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader

_TARGETS = (
    "id IN (SELECT id FROM endpoints WHERE trigger_id = :trigger "
    "UNION ALL SELECT endpoint_id FROM trigger_workflows WHERE trigger_id = :trigger "
    "UNION ALL SELECT id FROM endpoints "
    "WHERE project_id = :project AND environment = :environment AND owner = 'project') "
    "ORDER BY owner, position, created_at, id"  # a trigger's own come before workflows
)
"""Where events of a trigger may go, by one query: one is made for each of them."""


class TriggerReference(Protocol):
    """A deployed trigger: its id (``dc_…``, ``hi_…``, ``ti_…``, ``ei_…``), user, scene and app."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def external_user_id(self) -> str:
        """Our id of its user."""
        ...

    @property
    def scene(self) -> Scene:
        """The scene in which it is deployed."""
        ...

    @property
    def app(self) -> str | None:
        """The app that it watches, if there is one."""
        ...


def of_trigger(reader: Reader, trigger: TriggerReference) -> list[Endpoint]:
    """The targets of an event of ``trigger``: its webhooks and workflows, or without any the project webhook.

    Deactivated ones are included, so that what they miss can be sent once they are reset.
    """
    rows = endpoints.select(reader, _TARGETS, {**trigger.scene.params, "trigger": trigger.id})
    return [row for row in rows if row.owner != "project"] or rows[:1]
