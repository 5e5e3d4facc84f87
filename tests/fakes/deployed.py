"""Deployed triggers put into a service without running any hook, and what such triggers emit."""

from collections.abc import Sequence
from typing import Any

from webapp.kit.crypto import new_id, random_base62
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events, trigger_webhooks
from webapp.service.domain.deliveries.events import Event
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import configuration, deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def plant_trigger_of(
    service: Service,
    scene: Scene,
    component_key: str,
    configured: dict[str, Any] | None = None,
    *,
    user: str = "alice",
    active: bool = True,
) -> tuple[DeployedTrigger, str]:
    """A deployed trigger of ``user``, and the key in its URL."""
    component = service.catalog.component(component_key)
    assert component is not None
    kind, now, key = configuration.kind_of_component(component_key), service.clock(), random_base62(24)
    trigger_id = new_id(kind.prefix)
    with service.store.write() as tx:
        owner = external_users.ensure(tx, scene, user, now)
        trigger = DeployedTrigger(
            id=trigger_id, scene=scene, external_user_id=owner.id, external_id=user, emitter=kind.emitter,
            component_id=component.id, component_key=component.key, component_version=component.version,
            app=component.app, name=component.name, name_slug=trigger_id.lower(), props=component.props,
            configured_sealed=deployed_triggers.seal_configured(service, tx, scene, trigger_id, configured or {}),
            dynamic_props_id=None, active=active, switched_off=None, emit_on_deploy=True, schedule=None,
            schedule_changed_at=None, next_run_at=None, turn=0, failures=0, last_run_at=None, last_error=None,
            last_event_at=None, mark=None,
            endpoint_sealed=deployed_triggers.ENDPOINT.seal(service, tx, scene.project_id, trigger_id, key.encode()),
            email_local=random_base62(20).lower() if kind.emitter == "email" else None, created_at=now, updated_at=now,
        )  # fmt: skip
        lifecycle.insert(tx, trigger, endpoint_key=key, busy_until=now)
        assert lifecycle.update(tx, trigger) == 1
    planted = deployed_triggers.find(service.store, trigger_id)
    assert planted is not None
    return planted, key


def switch(service: Service, trigger: DeployedTrigger, *, active: bool) -> None:
    """Pause or resume a planted trigger."""
    with service.store.write() as tx:
        values = {"id": trigger.id, "active": int(active)}
        assert tx.run("UPDATE deployed_triggers SET active = :active WHERE id = :id", values) == 1


def bodies(service: Service, trigger: DeployedTrigger) -> list[bytes]:
    """The bodies of the trigger's events, oldest first."""
    sql = "SELECT id FROM events WHERE trigger_id = :id ORDER BY id"
    return [events.body_of(service, row["id"]) for row in service.store.all(sql, {"id": trigger.id})]


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
        trigger_webhooks.set_urls(tx, service, trigger, urls)
        trigger_webhooks.set_workflows(tx, trigger, workflows)
    return deployed_triggers.get(service.store, scene, trigger_id)


def emit(service: Service, trigger: DeployedTrigger, *found: Any) -> list[Event]:
    """Record ``found`` as emitted events, as the trigger side does."""
    emitted = [Emitted(one, str(number), f"Thing {number}", service.clock()) for number, one in enumerate(found)]
    with service.store.write() as tx:
        return events.record(tx, service, trigger, emitted)
