"""Deploys, changes and removes triggers: their rows, hooks, webhooks and activity, atomically.

*Deploying* (contract "Deploying"): the row is inserted before the hooks run, since a provider may call its endpoint
while it is being subscribed; it is visible only after they succeed. If one fails, the others are undone and the row is
removed. :func:`recover` undoes deployments that a crash interrupted.

*Changing* values, name, on and off (contract "Updating"): everything is checked before anything changes. A trigger that
is on and whose values change is unsubscribed with the old ones and subscribed with the new ones. If a hook fails, the
previous state is restored; if even that fails, the trigger is switched off with the reason, so that it never seems to
be on while it gets nothing.

*Recovering* completes or undoes what a process that died left incomplete. If neither works, the trigger is switched off
with the reason, and its people are notified. A hook may run a second time here, since its first run may have had all
or some of its effects.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from webapp.errors import Conflict, Invalid, NotFound, PatchbayError
from webapp.kit.crypto import new_id, random_name
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import Emitted
from webapp.service.domain.accounts import accounts
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, dynamic_props
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.prop_values import unwrapped
from webapp.service.domain.deliveries import trigger_webhooks
from webapp.service.domain.projects import activity, external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import (
    calls,
    configuration,
    dedupe,
    deployed_triggers,
    fire,
    lifecycle,
    pending_changes,
    schedules,
    trigger_accounts,
)
from webapp.service.domain.triggers.calls import HookFailed
from webapp.service.domain.triggers.configuration import TriggerValues
from webapp.service.domain.triggers.deployed_triggers import ENDPOINT, DeployedTrigger
from webapp.service.domain.triggers.pending_changes import PendingChange, Phase
from webapp.store.contract import Tx

ENDPOINT_KEY_LENGTH = 32
EMAIL_LENGTH = 24
_DELETION_INTERRUPTED = "Its deletion was interrupted, and it could not be unsubscribed: {reason} Delete it again."
_NOT_RESTORED = "A change failed, and the previous subscription could not be restored. {reason}"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The deployment to make:

    ``component`` with the values ``configured``, for the user ``external_id`` of ``scene``.
    """

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

    Raises :class:`webapp.errors.Invalid` (a value, a URL, a workflow, or a hook that fails), :class:`NotFound` (an
    account or dynamic props that are not this user's), :class:`webapp.errors.Forbidden` (the quotas).
    """
    kind = configuration.kind_of_component(deployment.component.key)
    owner, configured = (deployment.scene, deployment.external_id), deployment.configured
    request = ComponentRequest(*owner, deployment.component, configured, deployment.dynamic_props_id)
    props = component_requests.props_to_fill(service, request)
    values = configuration.checked_values(service, *owner, kind, props, configured)
    trigger = _begin(service, deployment, kind, props, values)
    try:
        emitted = calls.run_hooks(service, trigger, ["deploy", "activate"], values.configured)
        with service.store.write() as tx:
            _finish_deployment(tx, service, trigger, values, emitted)
    except HookFailed as failure:
        _undo(service, trigger, values.configured, activated=failure.hook == "activate")
        raise failure.to_error() from failure
    except BaseException:
        _undo(service, trigger, values.configured, activated=True)
        raise
    service.wake()
    return deployed_triggers.get(service.store, deployment.scene, trigger.id)


def delete(service: Service, trigger: DeployedTrigger, *, ignore_hook_errors: bool = False) -> None:
    """Unsubscribe ``trigger`` and remove it with its events.

    Raises :class:`Conflict` if that fails; with ``ignore_hook_errors`` it is removed nevertheless.
    """
    with lifecycle.locked(service, trigger, by_force=ignore_hook_errors) as current:
        failure = None
        if current.active:
            configured = deployed_triggers.configured(service, current)
            pending_changes.begin(service, current, "delete")
            failure = calls.try_hook(service, current, "deactivate", configured)
        if failure is not None and not ignore_hook_errors:
            if failure.unknown:
                raise failure.to_error()
            with service.store.write() as tx:
                if failure.uncertain:
                    lifecycle.switch_off(tx, service, current, _DELETION_INTERRUPTED.format(reason=failure.sentence))
                pending_changes.end(tx, current.id)
            service.wake()
            raise Conflict(
                f"It was not deleted, because it could not be unsubscribed: {failure.sentence} "
                "Try again, or delete it with ignore_hook_errors=true."
            )
        _delete_unsubscribed(service, current)


def _delete_unsubscribed(service: Service, trigger: DeployedTrigger) -> None:
    """Delete ``trigger``, which is unsubscribed and locked by the caller, with its events."""
    with service.store.write() as tx:
        if lifecycle.remove(tx, trigger.id):
            sentence = f"{trigger.name} was deleted."
            activity.write(tx, trigger.subject, service.clock(), "trigger_deleted", sentence, good=True)


def _undo_abandoned_deployments(service: Service) -> int:
    """Undo the deployments that a crash interrupted; return their number."""
    abandoned = deployed_triggers.ROWS.all(
        service.store, f"deployed = 0 AND {lifecycle.FREE}", {"now": service.clock(), "busy": leases.CHANGE}
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
    """Insert the row, which is invisible until the deployment is finished, with its webhooks."""
    now, trigger_id = service.clock(), new_id(kind.prefix)
    scene, component = deployment.scene, deployment.component
    name = configuration.checked_name(deployment.name or component.name)
    key = random_name(ENDPOINT_KEY_LENGTH) if _needs_endpoint(props) else None
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, deployment.external_id, now)
        deployed_triggers.check_quotas(service, tx, user)
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
            name_slug=deployed_triggers.free_slug(tx, user.id, name),
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
        lifecycle.insert(tx, trigger, endpoint_key=key, busy_until=now + leases.CHANGE, holder=service.generation)
        trigger_accounts.set_accounts(tx, trigger_id, values.accounts)
        urls = [deployment.webhook_url] if deployment.webhook_url else []
        workflows = [deployment.workflow_id] if deployment.workflow_id else []
        trigger_webhooks.set_urls(tx, service, trigger, urls, deployment.webhook_not_found)
        trigger_webhooks.set_workflows(tx, trigger, workflows, field="workflow_id")
    return trigger


def _needs_endpoint(props: list[dict[str, Any]]) -> bool:
    return any(prop["type"] == "$.interface.http" and prop.get("at") != "client" for prop in props)


def _finish_deployment(
    tx: Tx, service: Service, trigger: DeployedTrigger, values: TriggerValues, emitted: list[Emitted]
) -> None:
    """Make the trigger visible and schedule it, and record what its hooks emitted."""
    now = service.clock()
    for account_id in values.accounts.values():
        accounts.get(tx, trigger.scene, account_id)
    component = calls.component_of(service, trigger)
    fresh = dedupe.new_events(tx, trigger, component.dedupe if component else None, emitted, now)
    current = deployed_triggers.find(tx, trigger.id)
    if current is None:
        raise Conflict("It took too long to deploy; try again.")
    ready = replace(current, schedule_changed_at=now if values.schedule else None)
    if not lifecycle.update(tx, replace(ready, next_run_at=_first_run(ready, now), updated_at=now)):
        raise Conflict("It took too long to deploy; try again.")
    if trigger.emit_on_deploy and fresh:
        fire.record(tx, service, trigger, fresh)
    activity.write(tx, trigger.subject, now, "trigger_deployed", f"{trigger.name} was started.", good=True)


def _first_run(trigger: DeployedTrigger, now: int) -> int | None:
    """When a trigger that was just switched on runs first: at once, if it polls at intervals."""
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
            return  # it is recovered once it is free
    with service.store.write() as tx:
        lifecycle.remove(tx, trigger.id)


@dataclass(frozen=True, slots=True)
class Change:
    """The changes; None leaves a field unchanged. ``configured`` is merged into the values by key; null removes one.

    ``version`` is another version of its component, whose props the values must match then.
    """

    active: bool | None = None
    configured: Mapping[str, Any] | None = field(default=None, repr=False)
    name: str | None = None
    emit_on_deploy: bool | None = None
    dynamic_props_id: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class _CheckedChange:
    """A valid change: the trigger and its values before and after."""

    before: DeployedTrigger
    old: Mapping[str, Any] = field(repr=False)
    after: DeployedTrigger
    values: TriggerValues

    @property
    def differs(self) -> bool:
        """Whether it needs another subscription than the one with the old values."""
        return bool(
            _unlabelled(self.old) != _unlabelled(self.values.configured)
            or self.before.props != self.after.props
            or self.changes_version
        )

    @property
    def changes_version(self) -> bool:
        """Whether it gets another version of its component."""
        return self.before.component_version != self.after.component_version

    @property
    def unsubscribes(self) -> bool:
        return self.before.active and (not self.after.active or self.differs)

    @property
    def subscribes(self) -> bool:
        return self.after.active and (not self.before.active or self.differs)


def update(service: Service, trigger: DeployedTrigger, change: Change) -> DeployedTrigger:
    """Return ``trigger`` after ``change``.

    Raises :class:`Invalid` (a value, or a hook that fails), :class:`NotFound` (an account that is not this user's),
    :class:`webapp.errors.Conflict` during another change.
    """
    with lifecycle.locked(service, trigger) as current:
        checked = _with_endpoint(service, _checked_change(service, current, change))
        if checked.unsubscribes or checked.subscribes:
            phase: Phase = "unsubscribe" if checked.unsubscribes else "subscribe"
            pending_changes.begin(service, current, "change", phase, asdict(change))
        _unsubscribe(service, checked)
        _apply(service, checked)
    service.wake()
    return deployed_triggers.get(service.store, trigger.scene, trigger.id)


def _resume_change(service: Service, current: DeployedTrigger, change: Change, phase: Phase) -> None:
    """Complete ``change``, which was interrupted in ``phase``, or restore the previous state.

    The caller holds ``current``. Raises :class:`Invalid` or :class:`NotFound` if the change is no longer valid; then
    nothing was done.
    """
    checked = _with_endpoint(service, _checked_change(service, current, change))
    if phase == "restore":
        _restore(service, checked)
        return
    if phase == "unsubscribe" and checked.unsubscribes:
        failure = calls.try_hook(service, checked.before, "deactivate", checked.old)
        if failure is not None and failure.unknown:
            return  # it is recovered once the runner responds
    elif checked.subscribes:  # remove whatever the first activation left
        calls.try_hook(service, checked.after, "deactivate", checked.values.configured)
    with suppress(Invalid):  # then the previous state was restored
        _apply(service, checked)


def _checked_change(service: Service, current: DeployedTrigger, change: Change) -> _CheckedChange:
    now, old = service.clock(), deployed_triggers.configured(service, current)
    active = current.active if change.active is None else change.active
    after = replace(current, active=active, switched_off=None if active else current.switched_off, updated_at=now)
    if change.name is not None and (name := configuration.checked_name(change.name)) != current.name:
        slug = deployed_triggers.free_slug(service.store, current.external_user_id, name, but=current.id)
        after = replace(after, name=name, name_slug=slug)
    if change.emit_on_deploy is not None:
        after = replace(after, emit_on_deploy=change.emit_on_deploy)
    if change.version is not None and change.version != current.component_version:
        after = _with_version(service, after, change.version)
    if change.dynamic_props_id is not None:
        owner = (current.scene, current.external_id, current.component_id)
        props = dynamic_props.get(service, *owner, change.dynamic_props_id)
        after = replace(after, props=props, dynamic_props_id=change.dynamic_props_id)
    values = _values(service, after, old, change, resumes=active and not current.active)
    if values.schedule != current.schedule:
        after = replace(after, schedule=values.schedule, schedule_changed_at=now if values.schedule else None)
    return _CheckedChange(current, old, after, values)


def _with_version(service: Service, trigger: DeployedTrigger, version: str) -> DeployedTrigger:
    """``trigger`` with that version of its component. Props that a reload has added stay, since it is reloaded then."""
    component = service.catalog.component(trigger.component_key, version)
    if component is None:
        raise Invalid.of("version", f"There is no version {version} of {trigger.component_key} here.")
    before = calls.component_of(service, trigger)
    declared = {prop["name"] for prop in (*component.props, *(before.props if before else ()))}
    reloaded = [prop for prop in trigger.props if prop["name"] not in declared] if trigger.dynamic_props_id else []
    props = [*component.props, *reloaded]
    return replace(trigger, component_version=version, component_id=component.id, props=props)


def _with_endpoint(service: Service, checked: _CheckedChange) -> _CheckedChange:
    """``checked`` with a URL of the trigger's own, if its new version needs one and the one before did not.

    It is stored before the trigger subscribes, since its app may call it at once.
    """
    after = checked.after
    if after.endpoint_sealed is not None or not _needs_endpoint(after.props):
        return checked
    key = random_name(ENDPOINT_KEY_LENGTH)
    with service.store.write() as tx:
        sealed = ENDPOINT.seal(service, tx, after.scene.project_id, after.id, key.encode())
        lifecycle.set_endpoint(tx, after.id, key, sealed)
    return replace(checked, after=replace(after, endpoint_sealed=sealed))


def _values(
    service: Service, after: DeployedTrigger, old: Mapping[str, Any], change: Change, *, resumes: bool
) -> TriggerValues:
    """The values after the change. Unchanged ones are not checked again, unless the trigger is switched on."""
    if change.configured is None and change.dynamic_props_id is None and change.version is None and not resumes:
        accounts = trigger_accounts.of_triggers(service.store, [after.id])[after.id]
        return TriggerValues(
            old, {account["prop"]: account["id"] for account in accounts}, dict(after.schedule or {}) or None
        )
    merged = configuration.merged_values(old, change.configured or {})
    kind = configuration.kind_of_emitter(after.emitter)
    try:
        return configuration.checked_values(service, after.scene, after.external_id, kind, after.props, merged)
    except NotFound as error:
        if change.configured:
            raise
        raise Invalid("Its account was disconnected; choose another one before you switch it on.") from error


def _unsubscribe(service: Service, checked: _CheckedChange) -> None:
    """Unsubscribe, if the change needs it.

    Raises the error of the hook; then nothing has changed, or where that is uncertain, the previous state was restored.
    """
    if not checked.unsubscribes:
        return
    failure = calls.try_hook(service, checked.before, "deactivate", checked.old)
    if failure is not None and not failure.unusable:  # without its account there is nobody to unsubscribe at
        if failure.uncertain and not failure.unknown:
            _restore_subscription(service, checked)
        elif not failure.unknown:
            with service.store.write() as tx:
                pending_changes.end(tx, checked.before.id)
        raise failure.to_error()


def _apply(service: Service, checked: _CheckedChange) -> None:
    """Subscribe, if the change needs it, and store the change; restore the previous state after a failure."""
    try:
        emitted = list[Emitted]()
        if checked.subscribes:
            pending_changes.set_phase(service, checked.before, "subscribe")
            emitted = calls.run_hooks(service, checked.after, ["activate"], checked.values.configured)
        with service.store.write() as tx:
            _write(tx, service, checked, emitted)
            pending_changes.end(tx, checked.before.id)
    except HookFailed as failure:
        if not failure.unknown:
            _restore(service, checked)
        raise failure.to_error() from failure
    except BaseException:
        _restore(service, checked)
        raise


def _restore(service: Service, checked: _CheckedChange) -> None:
    """Restore the state before a change that failed."""
    if not (checked.subscribes or checked.unsubscribes):
        return
    pending_changes.set_phase(service, checked.before, "restore")
    if checked.subscribes:
        calls.try_hook(service, checked.after, "deactivate", checked.values.configured)
    _restore_subscription(service, checked)


def _restore_subscription(service: Service, checked: _CheckedChange) -> None:
    """Subscribe with the values before the change, or switch off with the reason."""
    failure = calls.try_hook(service, checked.before, "activate", checked.old) if checked.unsubscribes else None
    if failure is not None and failure.unknown:
        return
    with service.store.write() as tx:
        if failure is not None:
            reason = _NOT_RESTORED.format(reason=failure.sentence)
            lifecycle.switch_off(tx, service, checked.before, reason)
        pending_changes.end(tx, checked.before.id)
    service.wake()


def _write(tx: Tx, service: Service, checked: _CheckedChange, emitted: list[Emitted]) -> None:
    now, after = service.clock(), checked.after
    sealed = deployed_triggers.seal_configured(service, tx, after.scene, after.id, checked.values.configured)
    component = calls.component_of(service, after)
    fresh = dedupe.new_events(tx, after, component.dedupe if component else None, emitted, now)
    row = deployed_triggers.find(tx, after.id)
    after = replace(
        after, configured_sealed=sealed, next_run_at=_next_run(checked, now), mark=row.mark if row else None
    )
    if not checked.before.active and after.active:
        after = replace(after, failures=0, last_error=None)
    if not lifecycle.update(tx, after):
        raise Conflict("This trigger was changed meanwhile; look at it again.")
    trigger_accounts.set_accounts(tx, after.id, checked.values.accounts)
    if after.emit_on_deploy:
        fire.record(tx, service, after, fresh)
    for kind, sentence in _activity_entries(checked):
        activity.write(tx, after.subject, now, kind, sentence, good=True)


def _next_run(checked: _CheckedChange, now: int) -> int | None:
    """The next tick: unchanged, so that renaming never shifts it; after a pause the next one of the same schedule."""
    before, after = checked.before, checked.after
    if not after.active or after.schedule is None:
        return None
    if before.active and before.schedule == after.schedule:
        return before.next_run_at
    if before.schedule != after.schedule:
        return _first_run(after, now)
    return schedules.next_after(after.schedule, after.schedule_changed_at or now, now)


def _activity_entries(checked: _CheckedChange) -> list[tuple[str, str]]:
    """The entries of the activity."""
    before, after, entries = checked.before, checked.after, list[tuple[str, str]]()
    if before.name != after.name:
        entries.append(("trigger_renamed", f"{before.name} is now called “{after.name}”."))
    if checked.changes_version:
        entries.append(("trigger_changed", f"{after.name} runs with version {after.component_version} now."))
    elif checked.differs:
        entries.append(("trigger_changed", f"The configuration of {after.name} was changed."))
    if before.active and not after.active:
        entries.append(("trigger_paused", f"{after.name} was paused."))
    if after.active and not before.active:
        entries.append(("trigger_resumed", f"{after.name} was switched on."))
    return entries


def _unlabelled(configured: Mapping[str, Any]) -> dict[str, Any]:
    """The values without their labels, so that a changed label changes nothing."""
    return {name: unwrapped(value)[0] for name, value in configured.items()}


def recover(service: Service) -> int:
    """Complete or undo what was interrupted: changes, deletions and deployments; return their number."""
    recovered = _undo_abandoned_deployments(service)
    for trigger in _abandoned(service):
        try:
            with lifecycle.locked(service, trigger) as current:
                pending = pending_changes.find(service.store, trigger.id)
                if pending is not None:
                    _RECOVER[pending.kind](service, current, pending)
                    recovered += 1
        except PatchbayError as error:
            log.info("The interrupted change of %s is recovered later: %s", trigger.id, error.message)
    if recovered:
        service.wake()
    return recovered


def _abandoned(service: Service) -> list[DeployedTrigger]:
    where = f"id IN (SELECT trigger_id FROM trigger_plans) AND deployed = 1 AND {lifecycle.FREE}"  # noqa: S608
    return deployed_triggers.ROWS.all(service.store, where, {"now": service.clock(), "busy": leases.CHANGE})


def _recover_change(service: Service, trigger: DeployedTrigger, pending: PendingChange) -> None:
    try:
        _resume_change(service, trigger, Change(**pending_changes.change_of(service, pending)), pending.phase)
    except (Invalid, NotFound):  # such as the account that it was to get
        _recover_disconnection(service, trigger, pending)


def _recover_deletion(service: Service, trigger: DeployedTrigger, pending: PendingChange) -> None:
    failure = calls.try_hook(service, trigger, "deactivate", deployed_triggers.configured(service, trigger))
    if failure is None or failure.unusable:
        _delete_unsubscribed(service, trigger)
        return
    if failure.unknown:
        return
    with service.store.write() as tx:
        lifecycle.switch_off(tx, service, trigger, _DELETION_INTERRUPTED.format(reason=failure.sentence))


def _recover_disconnection(service: Service, trigger: DeployedTrigger, pending: PendingChange) -> None:
    """Subscribe again after the removal of its account was interrupted. The account still exists."""
    configured = deployed_triggers.configured(service, trigger)
    calls.try_hook(service, trigger, "deactivate", configured)
    failure = calls.try_hook(service, trigger, "activate", configured) if trigger.active else None
    if failure is not None and failure.unknown:
        return
    with service.store.write() as tx:
        if failure is not None:
            lifecycle.switch_off(tx, service, trigger, _NOT_RESTORED.format(reason=failure.sentence))
        pending_changes.end(tx, trigger.id)


_RECOVER: dict[str, Callable[[Service, DeployedTrigger, PendingChange], None]] = {
    "change": _recover_change, "delete": _recover_deletion, "farewell": _recover_disconnection,
}  # fmt: skip
