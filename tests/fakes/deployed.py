"""A deployed trigger's row without the deployment, and what such a trigger emits."""

from collections.abc import Sequence
from typing import Any

from webapp.kit.ids import new_id
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events, trigger_webhooks
from webapp.service.domain.deliveries.events import Event
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def plant_trigger(
    service: Service, scene: Scene, urls: Sequence[str] = (), *, user: str = "alice", workflows: Sequence[str] = ()
) -> DeployedTrigger:
    """A trigger of ``user`` whose events go to ``urls``."""
    now, trigger_id = service.clock(), new_id("dc")
    with service.store.write() as tx:
        owner = external_users.ensure(tx, scene, user, now)
        facts: dict[str, Any] = dict.fromkeys(DeployedTrigger.__dataclass_fields__)
        facts |= {
            "id": trigger_id, "scene": scene, "external_user_id": owner.id, "external_id": user, "emitter": "source",
            "component_id": "sc_1", "component_key": "tiny-new-thing", "component_version": "0.0.1", "name": "Things",
            "name_slug": trigger_id, "props": [], "active": True, "emit_on_deploy": True, "turn": 0, "failures": 0,
            "created_at": now, "updated_at": now,
            "configured_sealed": deployed_triggers.seal_configured(service, tx, scene, trigger_id, {}),
        }  # fmt: skip
        trigger = DeployedTrigger(**facts)
        lifecycle.insert(tx, trigger, endpoint_key=None, busy_until=0)
        lifecycle.update(tx, trigger)
        trigger_webhooks.set_targets(tx, service, trigger, urls, workflows)
    return deployed_triggers.get(service.store, scene, trigger_id)


def emit(service: Service, trigger: DeployedTrigger, *found: Any) -> list[Event]:
    """Record ``found`` as emitted events, as the trigger side does."""
    emitted = [Emitted(one, str(number), f"Thing {number}", service.clock()) for number, one in enumerate(found)]
    with service.store.write() as tx:
        return events.record(tx, service, trigger, emitted)
