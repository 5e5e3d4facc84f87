"""Fires triggers: the tick of a source, a request for one, a native timer or another event of a native emitter.

The events of a run, their deliveries, its memory, the marks of its dedupe and its log are committed together; the
caller commits and then calls ``service.wake()``. A run that was overtaken (by a newer claim, a change, a pause) commits
nothing: the next one finds the same items again. A failing trigger backs off and keeps its schedule; one whose account
is dead, or whose app was removed, waits without failing. Native timers fire in the transaction that finds them due.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp import quotas
from webapp.kit.clock import MINUTE
from webapp.service.components.calls import Emitted, HttpAnswer, Reply
from webapp.service.components.limits import RUN_S
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_calls
from webapp.service.domain.deliveries import events, stats
from webapp.service.domain.deliveries.events import Event, ReceivedRequest
from webapp.service.domain.triggers import (
    calls,
    dedupe,
    deployed_triggers,
    event_listeners,
    lifecycle,
    runs,
    schedules,
    subscriptions,
    trigger_memory,
    waiting_triggers,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.runs import Cause
from webapp.service.domain.triggers.trigger_memory import StateTooLarge
from webapp.store.contract import Reader, Tx, claiming

BATCH = 500
POLL_INTERVAL_WHEN_NOTIFIED = 30 * MINUTE
SECOND_POLL_AFTER = MINUTE
CompleteRequest = Callable[[Tx, Reply], bool]


def record(tx: Tx, service: Service, trigger: DeployedTrigger, emitted: Sequence[Emitted]) -> list[Event]:
    """Record what ``trigger`` emitted as events."""
    if not emitted:
        return []
    recorded = events.record(tx, service, trigger, emitted, secret=deployed_triggers.endpoint_key(service, trigger))
    lifecycle.set_last_event(tx, trigger, service.clock())
    return recorded


def record_request(
    tx: Tx, service: Service, trigger: DeployedTrigger, request: ReceivedRequest, summary: str, size: int
) -> None:
    """Store a request for ``trigger``, whose JSON has ``size`` bytes. Raises :class:`TooLarge`.

    A shared transaction counts it last, without what others write at the same time.
    """
    event = events.record_request(tx, service, trigger, request, summary, size)
    check_storage(tx, service, trigger, event.kept if tx.shared else 0)
    lifecycle.set_last_event(tx, trigger, service.clock())


def check_storage(reader: Reader, service: Service, trigger: DeployedTrigger, more: int = 0) -> None:
    """Raise :class:`TooLarge` if ``more`` bytes would exceed the quotas of ``trigger`` or its user.

    Only what comes from outside is refused: what a trigger finds by itself is stored.
    """
    of_trigger, of_user = stats.kept_bytes(reader, trigger.id, trigger.external_user_id)
    service.check_quota(quotas.TRIGGER_MB, of_trigger + more)
    service.check_quota(quotas.USER_MB, of_user + more)


def fire_timers(service: Service) -> int:
    """Fire native timers that are due, at most :data:`BATCH`, in one transaction; how many there were."""
    now, next_at = service.clock(), lifecycle.next_timer_at(service)
    if next_at is None or next_at > now:
        return 0  # an idle worker takes no write lock
    with service.store.write(shared=True) as tx:
        due = deployed_triggers.ROWS.all(
            tx,
            f"emitter = 'timer' AND {lifecycle.DUE} ORDER BY next_run_at LIMIT :limit{claiming(tx)}",
            {"now": now, "busy": leases.CHANGE, "limit": BATCH},
        )
        for timer in due:
            _fire(tx, service, timer, now)
    if due:
        service.wake()
    return len(due)


def _fire(tx: Tx, service: Service, timer: DeployedTrigger, now: int) -> None:
    schedule = timer.schedule or {}
    at = schedules.latest(schedule, timer.next_run_at or now, now)
    events.record(tx, service, timer, [Emitted(schedules.tick_payload(schedule, at), None, None, at)])
    lifecycle.set_fired(tx, timer, now, schedules.next_after(schedule, timer.schedule_changed_at or now, now))


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run.

    ``waits``: an account of it is dead, or its app was removed, so nothing ran and nothing failed.
    """

    ok: bool
    error: str | None = None
    response: HttpAnswer | None = None
    events: Sequence[Event] = field(default=(), repr=False)
    waits: bool = False


def poll(service: Service, claimed: DeployedTrigger) -> RunOutcome:
    """Run the tick of a source that :func:`lifecycle.claim_polls` returned, and release it."""
    now, schedule = service.clock(), claimed.schedule or {}
    if reason := _why_waiting(service, claimed):
        return _skip_tick(service, claimed, reason)
    at = schedules.latest(schedule, claimed.next_run_at or now, now)
    state = trigger_memory.read(service, claimed)
    reply = calls.call(service, claimed, "run", state=state, event=schedules.tick_payload(schedule, at))
    if not reply.ok and (reason := _why_waiting(service, claimed)):
        return _skip_tick(service, claimed, reason)
    return _commit_run(service, claimed, "timer", now, reply)


def run_for_request(
    service: Service,
    trigger: DeployedTrigger,
    event: Mapping[str, Any],
    *,
    deadline_s: float = RUN_S,
    complete_request: CompleteRequest | None = None,
) -> RunOutcome:
    """Run a source for one request.

    ``complete_request`` joins the transaction, before anything else is written: it deletes the request or has it tried
    again; if it returns False, nothing is stored. The events of a failed run are dropped then, since they will be
    emitted again.
    """
    now = service.clock()
    if reason := _why_waiting(service, trigger):
        return RunOutcome(False, reason, waits=True)
    state = trigger_memory.read(service, trigger)
    reply = calls.call(service, trigger, "run", state=state, event=dict(event), deadline_s=deadline_s)
    if not reply.ok and (reason := _why_waiting(service, trigger)):
        return RunOutcome(False, reason, waits=True)
    return _commit_run(service, trigger, "request", now, reply, complete_request)


def emit(service: Service, trigger: DeployedTrigger, emitted: Sequence[Emitted]) -> list[Event]:
    """Record events of ``trigger`` that no run emitted, such as a test."""
    with service.store.write() as tx:
        events = record(tx, service, trigger, emitted)
    service.wake()
    return events


def _next_poll_when_notified(trigger: DeployedTrigger, now: int, *, emitted: bool) -> int | None:
    """The next tick of ``trigger`` after a poll, while its app notifies it: at long intervals, in case of missed
    notifications.

    After a notification without news it polls once more, since lists may be updated a little later.
    """
    waited = (trigger.next_run_at or now) - (trigger.last_run_at or 0)
    if not emitted and waited < POLL_INTERVAL_WHEN_NOTIFIED and waited != SECOND_POLL_AFTER:
        return now + SECOND_POLL_AFTER
    schedule, anchor = trigger.schedule or {}, _anchor(trigger)
    if schedules.gap(schedule, anchor, now) >= POLL_INTERVAL_WHEN_NOTIFIED:
        return schedules.next_after(schedule, anchor, now)
    return schedules.next_after(schedule, anchor, now + POLL_INTERVAL_WHEN_NOTIFIED - 1)


def _second_poll(trigger: DeployedTrigger, now: int, next_run_at: int | None) -> int | None:
    """``next_run_at``, or a minute from ``now`` if that is earlier and ``trigger`` polled before its time, as an event
    came to the URL of its client: lists may be updated a little later."""
    due = trigger.next_run_at or now
    is_tick = schedules.next_after(trigger.schedule or {}, _anchor(trigger), due - 1) == due
    is_second = due - (trigger.last_run_at or 0) == SECOND_POLL_AFTER
    if is_tick or is_second or trigger.failures:
        return next_run_at
    return min(next_run_at or now + SECOND_POLL_AFTER, now + SECOND_POLL_AFTER)


def _commit_run(
    service: Service,
    trigger: DeployedTrigger,
    cause: Cause,
    began_at: int,
    reply: Reply,
    complete_request: CompleteRequest | None = None,
) -> RunOutcome:
    """Commit the outcome of a run."""
    try:
        with service.store.write() as tx:
            events = _commit(tx, service, trigger, cause, began_at, reply, complete_request)
    except StateTooLarge as error:
        reply = component_calls.failed(service, str(error), reply.took_ms)
        with service.store.write() as tx:
            events = _commit(tx, service, trigger, cause, began_at, reply, complete_request)
    if events:
        service.wake()
    return RunOutcome(reply.ok, reply.error.message if reply.error else None, reply.response, events)


def _commit(
    tx: Tx,
    service: Service,
    trigger: DeployedTrigger,
    cause: Cause,
    began_at: int,
    reply: Reply,
    complete_request: CompleteRequest | None,
) -> list[Event]:
    """Store the results of a run; nothing, if it was overtaken."""
    current = deployed_triggers.find(tx, trigger.id)
    if current is None or (cause == "timer" and current.turn != trigger.turn):
        return []
    if complete_request is not None and not complete_request(tx, reply):
        return []
    events = list[Event]()
    if reply.ok or complete_request is None:
        component = calls.component_of(service, trigger)
        kind = component.dedupe if component else None
        emitted = dedupe.new_events(tx, trigger, kind, reply.events, service.clock())
        events = record(tx, service, trigger, emitted)
        trigger_memory.update(tx, service, trigger, reply.state)
    runs.write(tx, service, trigger, cause, began_at, reply, emitted=len(events))
    _write_state(tx, service, trigger, cause, reply, emitted=bool(events))
    return events


def _write_state(
    tx: Tx, service: Service, trigger: DeployedTrigger, cause: Cause, reply: Reply, *, emitted: bool
) -> None:
    now = service.clock()
    lifecycle.set_last_run(tx, trigger, now, reply.error.message if reply.error else None)
    if cause == "timer":
        failures = 0 if reply.ok else trigger.failures + 1
        next_run_at = schedules.next_after_failures(trigger.schedule or {}, _anchor(trigger), failures, now)
        is_private = event_listeners.of_trigger(tx, trigger.id) is None  # at a client's URL, an app may send nothing
        if not failures and is_private and subscriptions.notifies(tx, trigger, now):
            next_run_at = _next_poll_when_notified(trigger, now, emitted=emitted)
        elif not failures and not is_private and not emitted:
            next_run_at = _second_poll(trigger, now, next_run_at)
        lifecycle.schedule_next(tx, trigger, failures=failures, next_run_at=next_run_at)


def _why_waiting(service: Service, trigger: DeployedTrigger) -> str | None:
    return waiting_triggers.reasons(service, [trigger]).get(trigger.id)


def _skip_tick(service: Service, claimed: DeployedTrigger, reason: str) -> RunOutcome:
    """Let the tick pass: the next one looks again, after a minute at the earliest."""
    next_run_at = schedules.next_after(claimed.schedule or {}, _anchor(claimed), service.clock() + MINUTE - 1)
    with service.store.write() as tx:
        lifecycle.schedule_next(tx, claimed, failures=claimed.failures, next_run_at=next_run_at)
    return RunOutcome(False, reason, waits=True)


def _anchor(trigger: DeployedTrigger) -> int:
    return trigger.schedule_changed_at or trigger.created_at
