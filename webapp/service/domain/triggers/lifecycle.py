"""All changes of deployed triggers' rows (table ``deployed_triggers``): added, locked, claimed, switched off, removed.

A trigger is never switched off because it fails, however often: its polls are further and further apart
(:func:`schedules.next_after_failures`) until one succeeds. The system switches it off (:func:`switch_off`) only when
its account is removed (:mod:`trigger_accounts`), when a failed change cannot be undone, and when its deletion was
interrupted (both :mod:`deployments`).

Two columns coordinate processes that work on one trigger. ``turn`` grows with each claim and each change, and a run
with an older one writes nothing. ``busy_until`` says that the trigger is being changed while its hooks run, and no tick
is claimed before then. A lease or lock that is too far ahead was written before the clock was set back, and is ignored.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import SECOND, TOLERANCE
from webapp.kit.crypto import hash_token
from webapp.service.domain.accounts import notifications
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import stats
from webapp.service.domain.projects import activity
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.triggers import deployed_triggers, pending_changes, schedules
from webapp.service.domain.triggers.deployed_triggers import ABSENT, DeployedTrigger
from webapp.store.contract import Tx, claiming
from webapp.store.table import Table

POLLS_APART = 15 * SECOND
POLLS_CONSIDERED = 64  # more than run side by side, so that one of them is free
_FRESH_MS = SECOND
FREE = "busy_until NOT BETWEEN :now + 1 AND :now + :busy"
_TRIGGERS = Table("deployed_triggers", DeployedTrigger, write_only=("endpoint_hash", "busy_until", "holder"))
_KEPT = (  # what no change writes
    "id", "project_id", "environment", "external_user_id", "external_id", "endpoint_sealed", "email_local",
    "created_at", "turn",
)  # fmt: skip
DUE = f"next_run_at <= :now AND active = 1 AND deployed = 1 AND {FREE}"
_CLAIMABLE = (
    f"SELECT id FROM deployed_triggers WHERE emitter = 'source' AND {DUE} "  # noqa: S608
    "AND lease_until NOT BETWEEN :now + 1 AND :now + :lease"
)


def insert(tx: Tx, trigger: DeployedTrigger, *, endpoint_key: str | None, busy_until: int, holder: int = 0) -> None:
    """Add ``trigger``, which the generation ``holder`` is deploying, invisible until :func:`update` shows it."""
    key_hash = hash_token(endpoint_key) if endpoint_key else None
    _TRIGGERS.insert(tx, trigger, endpoint_hash=key_hash, busy_until=busy_until, holder=holder)


def update(tx: Tx, trigger: DeployedTrigger) -> int:
    """Write ``trigger`` over its row, which is then deployed and no longer busy; 0 when its turn has passed.

    The turn grows, so that a run that began before this change is fenced off.
    """
    columns = {name: value for name, value in _TRIGGERS.values(trigger).items() if name not in _KEPT}
    changes = ", ".join(f"{name} = :{name}" for name in columns)
    return tx.run(
        f"UPDATE deployed_triggers SET {changes}, deployed = 1, busy_until = 0, lease_until = 0, holder = NULL, "  # noqa: S608
        "turn = turn + 1 WHERE id = :id AND turn = :turn",
        {**columns, "id": trigger.id, "turn": trigger.turn},
    )


def set_endpoint(tx: Tx, trigger_id: str, key: str, sealed: bytes) -> None:
    """Give the trigger its own URL with ``key``, as a later version of its component needs one."""
    _TRIGGERS.update(tx, trigger_id, endpoint_sealed=sealed, endpoint_hash=hash_token(key))


def remove(tx: Tx, trigger_id: str) -> int:
    """Delete the row and its dependent rows; return 0 if it was deleted before."""
    stats.forget(tx, trigger_id)
    return _TRIGGERS.delete(tx, trigger_id)


def erase_of_user(tx: Tx, user: ExternalUser) -> None:
    """Delete all triggers of a removed user, including those that are being deployed."""
    for row in tx.all("SELECT id FROM deployed_triggers WHERE external_user_id = :user", {"user": user.id}):
        remove(tx, row["id"])
    stats.forget_user(tx, user.id)


def erase_of_project(tx: Tx, project_id: str) -> None:
    """Delete all triggers of a removed project, including those that are being deployed."""
    for row in tx.all("SELECT id FROM deployed_triggers WHERE project_id = :project", {"project": project_id}):
        remove(tx, row["id"])


@contextmanager
def locked(service: Service, trigger: DeployedTrigger, *, by_force: bool = False) -> Iterator[DeployedTrigger]:
    """Lock ``trigger`` while it is changed, and yield its current state; running runs are fenced off.

    Raises :class:`Conflict` while another change holds it, unless ``by_force``; :class:`NotFound` if it was removed.
    """
    now, free = service.clock(), "" if by_force else f" AND {FREE}"
    with service.store.write() as tx:
        rows = tx.tuples(
            "UPDATE deployed_triggers SET turn = turn + 1, lease_until = 0, busy_until = :now + :busy, "  # noqa: S608
            f"holder = :holder WHERE id = :id AND deployed = 1{free} RETURNING {_TRIGGERS.columns}",
            {"id": trigger.id, "now": now, "busy": leases.CHANGE, "holder": service.generation},
        )
        if not rows and deployed_triggers.find(tx, trigger.id) is None:
            raise NotFound(ABSENT)
    if not rows:
        raise Conflict("This trigger is being changed just now; try again in a moment.")
    current = _TRIGGERS.make(rows[0])
    try:
        yield current
    finally:
        with service.store.write() as tx:
            tx.run(
                # Not by the turn: who is switched off meanwhile has the next one.
                "UPDATE deployed_triggers SET busy_until = 0, holder = NULL WHERE id = :id AND busy_until = :until",
                {"id": current.id, "until": now + leases.CHANGE},
            )


def switch_off(tx: Tx, service: Service, trigger: DeployedTrigger, reason: str) -> bool:
    """Switch ``trigger`` off for ``reason`` (a sentence), and notify its people; return False if it was off.

    An incomplete change of it is dropped. The caller commits and then calls ``service.wake()``.
    """
    now = service.clock()
    pending_changes.end(tx, trigger.id)
    changed = tx.run(
        "UPDATE deployed_triggers SET active = 0, switched_off = :reason, next_run_at = NULL, turn = turn + 1, "
        "updated_at = :now WHERE id = :id AND active = 1",
        {"reason": reason, "now": now, "id": trigger.id},
    )
    if changed:
        activity.write(tx, trigger.subject, now, "trigger_switched_off", f"{trigger.name}: {reason}", good=False)
        notifications.trigger_deactivated(tx, service, trigger, reason)
    return bool(changed)


def claim_polls(service: Service, limit: int) -> list[DeployedTrigger]:
    """Claim sources whose tick is due, the longest waiting first, each by a lease."""
    due = {"now": service.clock(), "lease": leases.RUN, "busy": leases.CHANGE, "limit": limit}
    if service.store.one(f"{_CLAIMABLE} LIMIT 1", due) is None:
        return []  # an idle worker takes no write lock
    with service.store.write(shared=True) as tx:
        rows = tx.tuples(
            f"WITH due AS ({_CLAIMABLE} ORDER BY next_run_at LIMIT :limit{claiming(tx)}) "  # noqa: S608
            "UPDATE deployed_triggers SET lease_until = :now + :lease, holder = :holder, turn = turn + 1 "
            f"WHERE id IN (SELECT id FROM due) RETURNING {_TRIGGERS.columns}",
            {**due, "holder": service.generation},
        )
    return sorted(map(_TRIGGERS.make, rows), key=lambda trigger: trigger.next_run_at or 0)


def next_timer_at(service: Service) -> int | None:
    """When the next native timer is due, in epoch milliseconds."""
    row = service.store.one(
        "SELECT MIN(next_run_at) AS at FROM deployed_triggers WHERE emitter = 'timer' AND next_run_at IS NOT NULL"
    )
    return row["at"] if row else None


def next_poll_at(service: Service) -> int | None:
    """The time when the next poll may be claimed; a claimed one counts when its lease ends."""
    rows = service.store.tuples(
        "SELECT next_run_at, lease_until, busy_until FROM deployed_triggers WHERE emitter = 'source' "
        "AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT :limit",
        {"limit": POLLS_CONSIDERED},
    )
    return min((max(row) for row in rows), default=None)


def release(service: Service, claimed: DeployedTrigger) -> None:
    """Release a claimed poll, so that it can be claimed again."""
    with service.store.write() as tx:
        sql = "UPDATE deployed_triggers SET lease_until = 0, holder = NULL WHERE id = :id AND turn = :turn"
        tx.run(sql, {"id": claimed.id, "turn": claimed.turn})


def take_over(tx: Tx, service: Service, dead: int) -> int:
    """Free what the generation ``dead`` was running, changing or deploying; how many there were."""
    return tx.run(
        "UPDATE deployed_triggers SET lease_until = 0, busy_until = 0, holder = NULL, turn = turn + 1 "
        "WHERE holder = :dead",
        {"dead": dead},
    )


def schedule_next(tx: Tx, claimed: DeployedTrigger, *, failures: int, next_run_at: int | None) -> None:
    """End the claim of a poll with its next tick, unless another claim holds it; a poll that was requested since is
    still due, unless this one failed.
    """
    tx.run(
        "UPDATE deployed_triggers SET lease_until = 0, holder = NULL, failures = :failures, next_run_at = "
        "CASE WHEN :failures = 0 AND next_run_at <> :due THEN next_run_at ELSE :next END "
        "WHERE id = :id AND turn = :turn",
        {
            "failures": failures, "next": next_run_at, "due": claimed.next_run_at, "id": claimed.id,
            "turn": claimed.turn,
        },
    )  # fmt: skip


def poll_soon(tx: Tx, trigger_id: str, now: int) -> None:
    """Make a poll due now, or :data:`POLLS_APART` after the last, so that a thousand notifications cause few polls.

    A failing one keeps its schedule.
    """
    tx.run(
        "UPDATE deployed_triggers SET next_run_at = CASE WHEN lease_until > :now THEN :now + :apart "
        "WHEN last_run_at > :now - :apart AND last_run_at <= :now THEN last_run_at + :apart ELSE :now END "
        "WHERE id = :id AND active = 1 AND failures = 0 AND next_run_at IS NOT NULL "
        "AND (next_run_at > :now OR lease_until > :now)",
        {"now": now, "apart": POLLS_APART, "id": trigger_id},
    )


def set_fired(tx: Tx, timer: DeployedTrigger, now: int, next_run_at: int | None) -> None:
    """A native timer has emitted its tick."""
    _TRIGGERS.update(tx, timer.id, next_run_at=next_run_at, last_run_at=now, last_event_at=now)


def set_last_run(tx: Tx, trigger: DeployedTrigger, now: int, error: str | None) -> None:
    """Record the end of a run, with its ``error`` if it failed."""
    _TRIGGERS.update(tx, trigger.id, last_run_at=now, last_error=error)


def set_last_event(tx: Tx, trigger: DeployedTrigger, now: int) -> None:
    """Record that it emitted an event, at most once a second, to limit writes; ``trigger`` says when it last did."""
    if trigger.last_event_at is not None and 0 <= now - trigger.last_event_at < _FRESH_MS:
        return
    stale = f"(last_event_at IS NULL OR last_event_at NOT BETWEEN :now - {_FRESH_MS - 1} AND :now)"
    row = f"SELECT id FROM deployed_triggers WHERE id = :id AND {stale}{claiming(tx)}"  # noqa: S608
    sql = f"UPDATE deployed_triggers SET last_event_at = :now WHERE id IN ({row})"  # noqa: S608
    tx.run(sql, {"now": now, "id": trigger.id})


def set_mark(tx: Tx, trigger: DeployedTrigger, mark: str | None) -> None:
    """Keep the emitted id that the next run compares with."""
    _TRIGGERS.update(tx, trigger.id, mark=mark)


def realign(service: Service) -> int:
    """After the clock was set back, recompute ticks that are too far away; return their number.

    The clock of another machine may be a little ahead, which is tolerated.
    """
    changed = 0
    with service.store.write() as tx:
        now = service.clock()  # under the lock: whoever fired while this waited for it is not ahead
        where = (
            "next_run_at > :now AND schedule IS NOT NULL "
            "AND COALESCE(last_run_at, schedule_changed_at, created_at) > :tolerated"
        )
        for trigger in deployed_triggers.ROWS.all(tx, where, {"now": now, "tolerated": now + TOLERANCE}):
            anchor = min(trigger.schedule_changed_at or now, now)
            last = trigger.last_run_at or trigger.schedule_changed_at or trigger.created_at
            at = schedules.realigned(trigger.schedule or {}, anchor, last, now)
            if at is not None and at != trigger.next_run_at:
                changed += _TRIGGERS.update(tx, trigger.id, next_run_at=at, schedule_changed_at=anchor)
    return changed
