"""Changing a deployed trigger: values, name, on and off (contract "Updating"). All is checked before anything changes.

While a trigger is on and its values change, it is unsubscribed with the old ones and subscribed with the new ones.
Where a hook fails, what stood before is brought back; where even that fails, the trigger is switched off with the
reason, so that it never seems to be on while nothing reaches it. What a dying process leaves half-way is brought to
its end by :func:`finish`.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from webapp.errors import Conflict, Invalid, NotFound
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props
from webapp.service.domain.components.prop_values import unwrapped
from webapp.service.domain.projects import activity
from webapp.service.domain.triggers import accounts as trigger_accounts
from webapp.service.domain.triggers import (
    calls,
    configuration,
    deployed_triggers,
    deploying,
    lifecycle,
    plans,
    recording,
    runs,
    schedules,
)
from webapp.service.domain.triggers.calls import HookFailed
from webapp.service.domain.triggers.configuration import TriggerValues
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.plans import Phase
from webapp.store.contract import Tx


@dataclass(frozen=True, slots=True)
class Change:
    """What to change; None leaves it as it is. ``configured`` is merged into the values by key; null removes one.

    ``version`` is another version of its component, whose props the values must fit then.
    """

    active: bool | None = None
    configured: Mapping[str, Any] | None = field(default=None, repr=False)
    name: str | None = None
    emit_on_deploy: bool | None = None
    dynamic_props_id: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """A change that was found good: the trigger and its values before and after."""

    before: DeployedTrigger
    old: Mapping[str, Any] = field(repr=False)
    after: DeployedTrigger
    values: TriggerValues

    @property
    def differs(self) -> bool:
        """Whether the subscription with the old values is of no use any more."""
        return bool(
            _plain(self.old) != _plain(self.values.configured) or self.before.props != self.after.props or self.moves
        )

    @property
    def moves(self) -> bool:
        """Whether it is another version of its component from then on."""
        return self.before.component_version != self.after.component_version

    @property
    def unsubscribes(self) -> bool:
        return self.before.active and (not self.after.active or self.differs)

    @property
    def subscribes(self) -> bool:
        return self.after.active and (not self.before.active or self.differs)


def update(service: Service, trigger: DeployedTrigger, change: Change) -> DeployedTrigger:
    """``trigger`` as it is after ``change``.

    Raises :class:`Invalid` (a value, or a hook that says no), :class:`NotFound` (an account that is not this user's),
    :class:`webapp.errors.Conflict` while somebody else changes it.
    """
    with lifecycle.locked(service, trigger) as current:
        plan = _planned(service, current, change)
        if plan.unsubscribes or plan.subscribes:
            phase: Phase = "unsubscribe" if plan.unsubscribes else "subscribe"
            plans.begin(service, current, "change", phase, asdict(change))
        _unsubscribe(service, plan)
        _carry_out(service, plan)
    service.wake()
    return deployed_triggers.get(service.store, trigger.scene, trigger.id)


def finish(service: Service, current: DeployedTrigger, change: Change, phase: Phase) -> None:
    """Bring ``change``, which broke off in ``phase``, to its end, or bring back what stood.

    The caller holds ``current``. Raises :class:`Invalid` or :class:`NotFound` where the change is not valid any more;
    nothing was done then.
    """
    plan = _planned(service, current, change)
    if phase == "restore":
        _restore(service, plan)
        return
    if phase == "unsubscribe" and plan.unsubscribes:
        calls.try_hook(service, plan.before, "deactivate", plan.old)
    elif plan.subscribes:  # whatever a first activation left
        calls.try_hook(service, plan.after, "deactivate", plan.values.configured)
    with suppress(Invalid):  # what stood before was brought back
        _carry_out(service, plan)


def _planned(service: Service, current: DeployedTrigger, change: Change) -> _Plan:
    now, old = service.clock(), deployed_triggers.configured(service, current)
    active = current.active if change.active is None else change.active
    after = replace(current, active=active, switched_off=None if active else current.switched_off, updated_at=now)
    if change.name is not None and (name := configuration.checked_name(change.name)) != current.name:
        slug = configuration.free_slug(service.store, current.external_user_id, name, but=current.id)
        after = replace(after, name=name, name_slug=slug)
    if change.emit_on_deploy is not None:
        after = replace(after, emit_on_deploy=change.emit_on_deploy)
    if change.version is not None and change.version != current.component_version:
        after = _moved(service, after, change.version)
    if change.dynamic_props_id is not None:
        owner = (current.scene, current.external_id, current.component_id)
        props = dynamic_props.get(service, *owner, change.dynamic_props_id)
        after = replace(after, props=props, dynamic_props_id=change.dynamic_props_id)
    values = _values(service, after, old, change, resumes=active and not current.active)
    if values.schedule != current.schedule:
        after = replace(after, schedule=values.schedule, schedule_changed_at=now if values.schedule else None)
    return _Plan(current, old, after, values)


def _moved(service: Service, trigger: DeployedTrigger, version: str) -> DeployedTrigger:
    """``trigger`` with that version of its component. Fields that a reload had added stay, as it asks for them anew."""
    component = service.catalog.component(trigger.component_key, version)
    if component is None:
        raise Invalid.of("version", f"There is no version {version} of {trigger.component_key} here.")
    before = calls.component_of(service, trigger)
    declared = {prop["name"] for prop in (*component.props, *(before.props if before else ()))}
    reloaded = [prop for prop in trigger.props if prop["name"] not in declared] if trigger.dynamic_props_id else []
    props = [*component.props, *reloaded]
    return replace(trigger, component_version=version, component_id=component.id, props=props)


def _values(
    service: Service, after: DeployedTrigger, old: Mapping[str, Any], change: Change, *, resumes: bool
) -> TriggerValues:
    """The values after the change. What does not change is not judged again, unless the trigger is switched on."""
    if change.configured is None and change.dynamic_props_id is None and change.version is None and not resumes:
        accounts = trigger_accounts.of_triggers(service.store, [after.id])[after.id]
        return TriggerValues(
            old, {account["prop"]: account["id"] for account in accounts}, dict(after.schedule or {}) or None
        )
    merged = configuration.merged_values(old, change.configured or {})
    kind = configuration.of_emitter(after.emitter)
    try:
        return configuration.checked_values(service, after.scene, after.external_id, kind, after.props, merged)
    except NotFound as error:
        if change.configured:
            raise
        raise Invalid("Its account is gone; choose another one before you switch it on.") from error


def _unsubscribe(service: Service, plan: _Plan) -> None:
    """Unsubscribe what stands, where the change asks for it. Raises what the hook said, and nothing has changed."""
    if not plan.unsubscribes:
        return
    failure = calls.try_hook(service, plan.before, "deactivate", plan.old)
    if failure is not None and not failure.unusable:  # without its account there is nobody to unsubscribe at
        if not failure.unknown:
            with service.store.write() as tx:
                plans.end(tx, plan.before.id)
        raise failure.to_error()


def _carry_out(service: Service, plan: _Plan) -> None:
    """Subscribe as the change asks for, and write it down; where that fails, bring back what stood."""
    try:
        emitted = list[Emitted]()
        if plan.subscribes:
            plans.enter(service, plan.before, "subscribe")
            emitted = calls.run_hooks(service, plan.after, ["activate"], plan.values.configured)
        with service.store.write() as tx:
            _write(tx, service, plan, emitted)
            plans.end(tx, plan.before.id)
    except HookFailed as failure:
        if not failure.unknown:
            _restore(service, plan)
        raise failure.to_error() from failure
    except BaseException:
        _restore(service, plan)
        raise


def _restore(service: Service, plan: _Plan) -> None:
    """Bring back what stood before a change that did not come about."""
    if not (plan.subscribes or plan.unsubscribes):
        return
    plans.enter(service, plan.before, "restore")
    if plan.subscribes:
        calls.try_hook(service, plan.after, "deactivate", plan.values.configured)
    failure = calls.try_hook(service, plan.before, "activate", plan.old) if plan.unsubscribes else None
    if failure is not None and failure.unknown:
        return
    with service.store.write() as tx:
        if failure is not None:
            reason = f"A change failed, and what stood before could not be brought back. {failure.sentence}"
            lifecycle.switch_off(tx, service, plan.before, reason)
        plans.end(tx, plan.before.id)
    service.wake()


def _write(tx: Tx, service: Service, plan: _Plan, emitted: list[Emitted]) -> None:
    now, after = service.clock(), plan.after
    sealed = deployed_triggers.seal_configured(service, tx, after.scene, after.id, plan.values.configured)
    component = calls.component_of(service, after)
    fresh = runs.new_events(tx, after, component.dedupe if component else None, emitted, now)
    row = deployed_triggers.find(tx, after.id)
    after = replace(after, configured_sealed=sealed, next_run_at=_next_run(plan, now), mark=row.mark if row else None)
    if not plan.before.active and after.active:
        after = replace(after, failures=0, last_error=None)
    if not lifecycle.update(tx, after):
        raise Conflict("This trigger was changed meanwhile; look at it again.")
    trigger_accounts.put(tx, after.id, plan.values.accounts)
    if after.emit_on_deploy:
        recording.record(tx, service, after, fresh)
    for kind, sentence in _history_entries(plan):
        activity.write(tx, after.subject, now, kind, sentence, good=True)


def _next_run(plan: _Plan, now: int) -> int | None:
    """A tick that stood stays, so that renaming never shifts one; after a pause the next of the same row comes."""
    before, after = plan.before, plan.after
    if not after.active or after.schedule is None:
        return None
    if before.active and before.schedule == after.schedule:
        return before.next_run_at
    if before.schedule != after.schedule:
        return deploying.first_run(after, now)
    return schedules.next_after(after.schedule, after.schedule_changed_at or now, now)


def _history_entries(plan: _Plan) -> list[tuple[str, str]]:
    """What happened, for the history."""
    before, after, entries = plan.before, plan.after, list[tuple[str, str]]()
    if before.name != after.name:
        entries.append(("trigger_renamed", f"{before.name} is now called “{after.name}”."))
    if plan.moves:
        entries.append(("trigger_changed", f"{after.name} runs with version {after.component_version} now."))
    elif plan.differs:
        entries.append(("trigger_changed", f"{after.name} was configured anew."))
    if before.active and not after.active:
        entries.append(("trigger_paused", f"{after.name} was paused."))
    if after.active and not before.active:
        entries.append(("trigger_resumed", f"{after.name} was switched on."))
    return entries


def _plain(configured: Mapping[str, Any]) -> dict[str, Any]:
    """The values without their labels, so that a label alone changes nothing."""
    return {name: unwrapped(value)[0] for name, value in configured.items()}
