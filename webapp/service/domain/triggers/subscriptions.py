"""Subscriptions of triggers at their apps, which expire unless they are renewed (table ``subscriptions``).

A row exists while its trigger is switched on and wants a subscription, whether or not the app has one now. A process
that renews one first postpones its time by a lease, so that no other process does; if that process dies, the
subscription is due again when the lease ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.kit.clock import DAY, HOUR, MINUTE, TOLERANCE
from webapp.kit.retries import back_off
from webapp.service.components.calls import Reply
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx, among, claiming
from webapp.store.table import Table

BACK_OFF = (MINUTE, 5 * MINUTE, 30 * MINUTE, HOUR, 6 * HOUR, DAY)
_CONSIDERED = 64  # more than are renewed side by side, so that one of them is free


@dataclass(frozen=True, slots=True)
class Subscription:
    """A trigger's subscription at its app. ``ends_at`` is None while the app has none, though the trigger wants one."""

    trigger_id: str
    renew_at: int
    ends_at: int | None = None
    failures: int = 0
    error: str | None = None

    def is_active(self, now: int) -> bool:
        """Whether the app notifies the trigger of news."""
        return self.ends_at is not None and self.ends_at > now


_SUBSCRIPTIONS = Table("subscriptions", Subscription, key="trigger_id")


def find(reader: Reader, trigger_id: str) -> Subscription | None:
    """The subscription of a trigger; None if it wants none."""
    return _SUBSCRIPTIONS.get(reader, trigger_id)


def record_hook(service: Service, trigger_id: str, hook: str, reply: Reply) -> None:
    """Store the subscription that a hook of the trigger created, or delete the one that it ended."""
    with service.store.write() as tx:
        if hook == "deactivate":
            _SUBSCRIPTIONS.delete(tx, trigger_id)
        elif reply.ok and reply.ends_at is not None:
            set_end(tx, trigger_id, reply.ends_at, service.clock())


def set_end(tx: Tx, trigger_id: str, ends_at: int, now: int) -> None:
    """Store when the subscription ends: it is renewed after two thirds of that time, or at once if it has ended."""
    is_over = ends_at <= now
    renew_at = now if is_over else now + (ends_at - now) * 2 // 3
    _SUBSCRIPTIONS.upsert(tx, Subscription(trigger_id, renew_at, None if is_over else ends_at), keep=())


def begin(service: Service, oauth_app_id: str) -> int:
    """Let the triggers subscribe soon that can be notified through the client ``oauth_app_id`` from now on; return
    their number."""
    with service.store.write() as tx:
        now = service.clock()
        rows = tx.all(
            "SELECT DISTINCT trigger_id FROM trigger_accounts JOIN accounts ON accounts.id = account_id "
            "WHERE accounts.oauth_app_id = :client",
            {"client": oauth_app_id},
        )
        of_client = [deployed_triggers.find(tx, row["trigger_id"]) for row in rows]
        waiting = [each for each in of_client if each is not None and each.active and each.is_notified_at_client]
        for trigger in waiting:
            set_end(tx, trigger.id, now, now)
    service.wake()
    return len(waiting)


def renew_soon(tx: Tx, trigger_id: str, now: int) -> None:
    """Make a renewal due now, as the app asks for one, unless renewals are failing."""
    tx.run(
        "UPDATE subscriptions SET renew_at = :now WHERE trigger_id = :id AND failures = 0 AND renew_at > :now",
        {"now": now, "id": trigger_id},
    )


def fail(tx: Tx, subscription: Subscription, error: str, now: int) -> None:
    """Record that a renewal failed, and try again after a wait that grows (:data:`BACK_OFF`)."""
    failures = subscription.failures + 1
    renew_at = now + back_off(BACK_OFF, failures)
    _SUBSCRIPTIONS.update(tx, subscription.trigger_id, renew_at=renew_at, failures=failures, error=error)


def postpone(tx: Tx, trigger_id: str, until: int) -> None:
    """Postpone a renewal, without counting that as a failure."""
    _SUBSCRIPTIONS.update(tx, trigger_id, renew_at=until)


def realign(service: Service) -> int:
    """After the clock was set back, renew now the subscriptions whose triggers last ran by the old time.

    They would end before their renewal is due. Returns their number.
    """
    with service.store.write() as tx:
        return tx.run(
            "UPDATE subscriptions SET renew_at = :now WHERE renew_at > :now AND trigger_id IN "
            "(SELECT id FROM deployed_triggers WHERE last_run_at > :tolerated)",
            {"now": service.clock(), "tolerated": service.clock() + TOLERANCE},
        )


def purge(service: Service) -> int:
    """Delete those of triggers that the system switched off, which subscribe again when they are switched on; return
    their number.
    """
    with service.store.write() as tx:
        return tx.run(
            "DELETE FROM subscriptions WHERE trigger_id IN (SELECT id FROM deployed_triggers WHERE active = 0)", {}
        )


def claim(service: Service, limit: int) -> list[Subscription]:
    """Claim those that are due, of triggers that are on and are not being changed."""
    now = service.clock()
    if (at := next_at(service)) is None or at > now:
        return []  # an idle worker takes no write lock
    with service.store.write(shared=True) as tx:
        rows = tx.tuples(
            "WITH due AS (SELECT trigger_id FROM subscriptions WHERE renew_at <= :now AND EXISTS (SELECT 1 FROM "  # noqa: S608
            f"deployed_triggers WHERE id = trigger_id AND active = 1 AND deployed = 1 AND {lifecycle.FREE}) "
            f"ORDER BY renew_at LIMIT :limit{claiming(tx)}) UPDATE subscriptions SET renew_at = :now + :lease "
            f"WHERE trigger_id IN (SELECT trigger_id FROM due) RETURNING {_SUBSCRIPTIONS.columns}",
            {"now": now, "limit": limit, "lease": leases.RENEWAL, "busy": leases.CHANGE},
        )
    return [_SUBSCRIPTIONS.make(row) for row in rows]


def next_at(service: Service) -> int | None:
    """When the next may be claimed, in epoch milliseconds."""
    rows = service.store.tuples(
        "SELECT renew_at, busy_until FROM subscriptions JOIN deployed_triggers ON id = trigger_id "
        "WHERE active = 1 AND deployed = 1 ORDER BY renew_at LIMIT :limit",
        {"limit": _CONSIDERED},
    )
    return min((max(row) for row in rows), default=None)


def of_polling(reader: Reader, triggers: Sequence[DeployedTrigger]) -> dict[str, Subscription]:
    """The subscriptions of the polling triggers, by the trigger's id."""
    polling = [trigger.id for trigger in triggers if trigger.polls_when_notified]
    if not polling:
        return {}
    listed, params = among(polling)
    rows = _SUBSCRIPTIONS.all(reader, f"trigger_id IN ({listed})", params)
    return {subscription.trigger_id: subscription for subscription in rows}


def notifies(reader: Reader, trigger: DeployedTrigger, now: int) -> bool:
    """Whether the app of ``trigger``, which polls, notifies it of news now."""
    return any(subscription.is_active(now) for subscription in of_polling(reader, [trigger]).values())
