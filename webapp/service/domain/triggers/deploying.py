"""Deploying a trigger, and removing it: rows, hooks, webhooks and history, whole or not at all (contract "Deploying").

The row stands before the hooks run, since a provider may call its endpoint while it is being subscribed; nobody else
sees it until they have gone well. Where one fails, what was done is undone and the row removed. What a crash left
half-way is undone by :func:`purge`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from webapp.errors import Conflict, NotFound
from webapp.kit.crypto import new_id, random_name
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import Emitted
from webapp.service.domain.accounts import accounts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import requests
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.domain.deliveries import trigger_webhooks
from webapp.service.domain.projects import activity, external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import accounts as trigger_accounts
from webapp.service.domain.triggers import (
    calls,
    configuration,
    deployed_triggers,
    lifecycle,
    plans,
    recording,
    runs,
    schedules,
)
from webapp.service.domain.triggers.calls import HookFailed
from webapp.service.domain.triggers.configuration import TriggerValues
from webapp.service.domain.triggers.deployed_triggers import ENDPOINT, DeployedTrigger
from webapp.store.contract import Tx

ENDPOINT_KEY_LENGTH = 32
EMAIL_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is asked for: ``component`` with the values ``configured``, for the user ``external_id`` of ``scene``."""

    scene: Scene
    external_id: str
    component: ComponentInfo
    configured: Mapping[str, Any] = field(repr=False)
    dynamic_props_id: str | None = None
    webhook_url: str | None = None
    webhook_not_found: Mapping[str, str] = field(default_factory=dict)
    workflow_id: str | None = None
    emit_on_deploy: bool = True
    name: str | None = None


def deploy(service: Service, deployment: Deployment) -> DeployedTrigger:
    """Deploy a trigger, switched on.

    Raises :class:`webapp.errors.Invalid` (a value, a URL, a workflow, or a hook that says no), :class:`NotFound` (an
    account or dynamic props that are not this user's), :class:`webapp.errors.Forbidden` (the quotas).
    """
    kind = configuration.kind(deployment.component.key)
    owner, configured = (deployment.scene, deployment.external_id), deployment.configured
    request = ComponentRequest(*owner, deployment.component, configured, deployment.dynamic_props_id)
    props = requests.props_to_fill(service, request)
    values = configuration.checked_values(service, *owner, kind, props, configured)
    trigger = _begin(service, deployment, kind, props, values)
    try:
        emitted = calls.run_hooks(service, trigger, ["deploy", "activate"], values.configured)
        with service.store.write() as tx:
            _finish(tx, service, trigger, values, emitted)
    except HookFailed as failure:
        _undo(service, trigger, values.configured, activated=failure.hook == "activate")
        raise failure.to_error() from failure
    except BaseException:
        _undo(service, trigger, values.configured, activated=True)
        raise
    service.wake()
    return deployed_triggers.get(service.store, deployment.scene, trigger.id)


def delete(service: Service, trigger: DeployedTrigger, *, ignore_hook_errors: bool = False) -> None:
    """Unsubscribe ``trigger`` and remove it with its events. Raises :class:`Conflict` where that fails; with
    ``ignore_hook_errors`` it is removed whatever happens."""
    with lifecycle.locked(service, trigger, by_force=ignore_hook_errors) as current:
        failure = None
        if current.active:
            configured = deployed_triggers.configured(service, current)
            plans.begin(service, current, "delete")
            failure = calls.try_hook(service, current, "deactivate", configured)
        if failure is not None and not ignore_hook_errors:
            if failure.unknown:
                raise failure.to_error()
            with service.store.write() as tx:
                plans.end(tx, current.id)
            raise Conflict(
                f"It was not deleted, because it could not be unsubscribed: {failure.sentence} "
                "Try again, or delete it with ignore_hook_errors=true."
            )
        remove(service, current)


def remove(service: Service, trigger: DeployedTrigger) -> None:
    """Remove ``trigger``, which was unsubscribed and which the caller holds, with its events."""
    with service.store.write() as tx:
        if lifecycle.remove(tx, trigger.id):
            sentence = f"{trigger.name} was deleted."
            activity.write(tx, trigger.subject, service.clock(), "trigger_deleted", sentence, good=True)


def purge(service: Service) -> int:
    """Undo what a crash left half deployed; how many there were."""
    abandoned = deployed_triggers.ROWS.all(
        service.store, f"deployed = 0 AND {lifecycle.FREE}", {"now": service.clock(), "busy": lifecycle.BUSY}
    )
    for trigger in abandoned:
        _undo(service, trigger, deployed_triggers.configured(service, trigger), activated=True)
    return len(abandoned)


def _begin(
    service: Service,
    deployment: Deployment,
    kind: configuration.EmitterKind,
    props: list[dict[str, Any]],
    values: TriggerValues,
) -> DeployedTrigger:
    """Write the row that nobody sees yet, with its webhooks."""
    now, trigger_id = service.clock(), new_id(kind.prefix)
    scene, component = deployment.scene, deployment.component
    name = configuration.checked_name(deployment.name or component.name)
    key = random_name(ENDPOINT_KEY_LENGTH) if any(prop["type"] == "$.interface.http" for prop in props) else None
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, deployment.external_id, now)
        deployed_triggers.hold_quotas(service, tx, user)
        trigger = DeployedTrigger(
            id=trigger_id,
            scene=scene,
            external_user_id=user.id,
            external_id=deployment.external_id,
            emitter=kind.emitter,
            component_id=component.id,
            component_key=component.key,
            component_version=component.version,
            app=component.app,
            name=name,
            name_slug=configuration.free_slug(tx, user.id, name),
            props=props,
            configured_sealed=deployed_triggers.seal_configured(service, tx, scene, trigger_id, values.configured),
            dynamic_props_id=deployment.dynamic_props_id,
            emit_on_deploy=deployment.emit_on_deploy,
            schedule=values.schedule,
            schedule_changed_at=now if values.schedule else None,
            endpoint_sealed=ENDPOINT.seal(service, tx, scene.project_id, trigger_id, key.encode()) if key else None,
            email_local=random_name(EMAIL_LENGTH) if kind.emitter == "email" else None,
            created_at=now,
            updated_at=now,
        )
        lifecycle.insert(tx, trigger, endpoint_key=key, busy_until=now + lifecycle.BUSY, holder=service.generation)
        trigger_accounts.put(tx, trigger_id, values.accounts)
        urls = [deployment.webhook_url] if deployment.webhook_url else []
        workflows = [deployment.workflow_id] if deployment.workflow_id else []
        trigger_webhooks.set_urls(tx, service, trigger, urls, deployment.webhook_not_found)
        trigger_webhooks.set_workflows(tx, trigger, workflows)
    return trigger


def _finish(tx: Tx, service: Service, trigger: DeployedTrigger, values: TriggerValues, emitted: list[Emitted]) -> None:
    """Let the trigger be seen and its ticks come, and record what its hooks emitted."""
    now = service.clock()
    for account_id in values.accounts.values():
        accounts.get(tx, trigger.scene, account_id)
    component = calls.component_of(service, trigger)
    fresh = runs.new_events(tx, trigger, component.dedupe if component else None, emitted, now)
    current = deployed_triggers.find(tx, trigger.id)
    if current is None:
        raise Conflict("It took too long to deploy; try again.")
    ready = replace(current, schedule_changed_at=now if values.schedule else None)
    if not lifecycle.update(tx, replace(ready, next_run_at=first_run(ready, now), updated_at=now)):
        raise Conflict("It took too long to deploy; try again.")
    if trigger.emit_on_deploy and fresh:
        recording.record(tx, service, trigger, fresh)
    activity.write(tx, trigger.subject, now, "trigger_deployed", f"{trigger.name} was started.", good=True)


def first_run(trigger: DeployedTrigger, now: int) -> int | None:
    """When a trigger that was just switched on runs first: one that asks at intervals begins by asking."""
    if trigger.schedule is None:
        return None
    if trigger.emitter == "source" and "intervalSeconds" in trigger.schedule and not trigger.instant:
        return now
    return schedules.next_after(trigger.schedule, trigger.schedule_changed_at or now, now)


def _undo(service: Service, trigger: DeployedTrigger, configured: Mapping[str, Any], *, activated: bool) -> None:
    if activated:
        try:
            failure = calls.try_hook(service, trigger, "deactivate", configured)
        except (Conflict, NotFound):
            return
        if failure is not None and failure.unknown:
            return  # it is swept when it is free
    with service.store.write() as tx:
        lifecycle.remove(tx, trigger.id)
