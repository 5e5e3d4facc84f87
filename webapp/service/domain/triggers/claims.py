"""What is due: polls to run, each claimed by a lease, and native timers, which fire in the transaction that finds them.

A lease is longer than a run may take, and ``turn`` tells a holder that was too slow from the one that came after it.
A lease or a tick that stands too far ahead was written before the clock was set back; it does not hold.
"""

from webapp.kit.clock import HOUR, MINUTE
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events
from webapp.service.domain.triggers import deployed_triggers, native_payloads, schedules, turns
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx

LEASE = 2 * MINUTE
BATCH = 500
TOLERATED = 3 * HOUR
FEW = 64  # more than run side by side, so that one of them is free
_FREE = "busy_until NOT BETWEEN :now + 1 AND :now + :busy"
_DUE = f"next_run_at <= :now AND active = 1 AND deployed = 1 AND {_FREE}"


def claim_polls(service: Service, limit: int) -> list[DeployedTrigger]:
    """Sources whose tick is due, the longest waiting first, each claimed for this caller alone."""
    now = service.clock()
    with service.store.write() as tx:
        rows = tx.all(
            "UPDATE deployed_triggers SET lease_until = :now + :lease, turn = turn + 1 WHERE id IN (SELECT id FROM "  # noqa: S608
            f"deployed_triggers WHERE emitter = 'source' AND {_DUE} AND "
            "lease_until NOT BETWEEN :now + 1 AND :now + :lease ORDER BY next_run_at LIMIT :limit) RETURNING *",
            {"now": now, "lease": LEASE, "busy": turns.BUSY, "limit": limit},
        )
    return sorted(map(deployed_triggers.from_row, rows), key=lambda one: one.next_run_at or 0)


def fire_timers(service: Service) -> int:
    """Fire native timers that are due, at most :data:`BATCH`, in one transaction; how many there were."""
    now = service.clock()
    with service.store.write() as tx:
        rows = tx.all(
            f"SELECT * FROM deployed_triggers WHERE emitter = 'timer' AND {_DUE} ORDER BY next_run_at LIMIT :limit",  # noqa: S608
            {"now": now, "busy": turns.BUSY, "limit": BATCH},
        )
        for row in rows:
            _fire(tx, service, deployed_triggers.from_row(row), now)
    if rows:
        service.wake()
    return len(rows)


def release(service: Service, claimed: DeployedTrigger) -> None:
    """Give a claimed poll up, so that the next who asks may claim it."""
    with service.store.write() as tx:
        tx.run(
            "UPDATE deployed_triggers SET lease_until = 0 WHERE id = :id AND turn = :turn",
            {"id": claimed.id, "turn": claimed.turn},
        )


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
        "AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT :few",
        {"few": FEW},
    )
    return min((max(row) for row in rows), default=None)


def realign(service: Service) -> int:
    """Set the ticks anew that were found by a clock which has since been set back; how many there were.

    An interval counts from now. A cron tick stays, since it is a time of the calendar, unless the clock was wrong by
    more than three hours: then it is looked for anew, as Debian's cron does.
    """
    now, changed = service.clock(), 0
    with service.store.write() as tx:
        rows = tx.all(
            "SELECT * FROM deployed_triggers WHERE next_run_at > :now AND schedule IS NOT NULL "
            "AND COALESCE(last_run_at, schedule_changed_at, created_at) > :now",
            {"now": now},
        )
        for trigger in map(deployed_triggers.from_row, rows):
            at = _realigned(trigger, now)
            if at is not None and at != trigger.next_run_at:
                changed += tx.run(
                    "UPDATE deployed_triggers SET next_run_at = :at, schedule_changed_at = :anchor WHERE id = :id",
                    {"at": at, "anchor": min(trigger.schedule_changed_at or now, now), "id": trigger.id},
                )
    return changed


def _fire(tx: Tx, service: Service, trigger: DeployedTrigger, now: int) -> None:
    schedule = trigger.schedule or {}
    at = schedules.latest(schedule, trigger.next_run_at or now, now)
    events.record(tx, service, trigger, [Emitted(native_payloads.of_tick(schedule, at), None, None, at)])
    tx.run(
        "UPDATE deployed_triggers SET next_run_at = :next, last_run_at = :now, last_event_at = :now WHERE id = :id",
        {"next": schedules.next_after(schedule, trigger.schedule_changed_at or now, now), "now": now, "id": trigger.id},
    )


def _realigned(trigger: DeployedTrigger, now: int) -> int | None:
    schedule, last = trigger.schedule or {}, trigger.last_run_at or trigger.schedule_changed_at or trigger.created_at
    if "intervalSeconds" in schedule:
        return schedules.next_after(schedule, min(trigger.schedule_changed_at or now, now), now)
    return schedules.next_after(schedule, now, now) if last - now > TOLERATED else None
