"""Native timers, which fire in the transaction that finds them due, and when a timer or a poll is due next."""

from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events
from webapp.service.domain.triggers import deployed_triggers, lifecycle, schedules
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx, claiming

BATCH = 500
POLLS_LOOKED_AT = 64  # more than run side by side, so that one of them is free


def fire_timers(service: Service) -> int:
    """Fire native timers that are due, at most :data:`BATCH`, in one transaction; how many there were."""
    now, next_at = service.clock(), next_timer_at(service)
    if next_at is None or next_at > now:
        return 0  # an idle worker takes no write lock
    with service.store.write(shared=True) as tx:
        due = deployed_triggers.ROWS.all(
            tx,
            f"emitter = 'timer' AND {lifecycle.DUE} ORDER BY next_run_at LIMIT :limit{claiming(tx)}",
            {"now": now, "busy": lifecycle.BUSY, "limit": BATCH},
        )
        for timer in due:
            _fire(tx, service, timer, now)
    if due:
        service.wake()
    return len(due)


def next_timer_at(service: Service) -> int | None:
    """When the next native timer is due, in epoch milliseconds."""
    row = service.store.one(
        "SELECT MIN(next_run_at) AS at FROM deployed_triggers WHERE emitter = 'timer' AND next_run_at IS NOT NULL"
    )
    return row["at"] if row else None


def next_poll_at(service: Service) -> int | None:
    """When the next poll may be claimed; one that somebody is at work on counts when its lease ends."""
    rows = service.store.tuples(
        "SELECT next_run_at, lease_until, busy_until FROM deployed_triggers WHERE emitter = 'source' "
        "AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT :limit",
        {"limit": POLLS_LOOKED_AT},
    )
    return min((max(row) for row in rows), default=None)


def _fire(tx: Tx, service: Service, timer: DeployedTrigger, now: int) -> None:
    schedule = timer.schedule or {}
    at = schedules.latest(schedule, timer.next_run_at or now, now)
    events.record(tx, service, timer, [Emitted(schedules.tick_payload(schedule, at), None, None, at)])
    lifecycle.set_fired(tx, timer, now, schedules.next_after(schedule, timer.schedule_changed_at or now, now))
