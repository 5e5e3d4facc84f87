"""Sending again, by hand: the same event under the same id, signed with the key of today, from the schedule's start."""

from dataclasses import replace

from webapp.errors import Conflict, Detail, Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import counts, endpoints, log
from webapp.service.domain.deliveries.log import Filter
from webapp.store.contract import Row

WHICH = ("failed", "all")
_OPEN = "AND EXISTS (SELECT 1 FROM endpoints p WHERE p.id = d.endpoint_id AND p.active = 1) AND d.lease_until <= :now"


def resend(service: Service, trigger_id: str, delivery_id: str) -> Row:
    """Let one delivery be due now, whatever became of it; one that is on its way stays as it is.

    Raises :class:`NotFound`, :class:`Conflict` when its webhook is switched off.
    """
    row = log.get(service.store, trigger_id, delivery_id)
    endpoint = endpoints.find(service.store, row["endpoint_id"])
    if endpoint is not None and not endpoint.active:
        raise Conflict("This webhook is switched off; reset its delivery state first, then send again.")
    _due_now(service, "d.id = :id AND d.trigger_id = :trigger", {"id": delivery_id, "trigger": trigger_id})
    return log.get(service.store, trigger_id, delivery_id)


def resend_many(service: Service, trigger_id: str, which: str, wanted: Filter, *, dry_run: bool) -> int:
    """Let the deliveries of a time be due now: those that have failed, or all that ended; how many there are.

    Those of webhooks that are switched off are left out. ``dry_run`` only counts. Raises :class:`Invalid`.
    """
    if which not in WHICH:
        message = "Use failed or all."
        raise Invalid(f"status is not valid: {message}", [Detail("status", message)])
    where, params = log.where_of(trigger_id, replace(wanted, status="failed" if which == "failed" else None))
    where = f"{where} AND d.status <> 'waiting'"
    if not dry_run:
        return _due_now(service, where, params)
    row = service.store.one(
        f"SELECT COUNT(*) AS n FROM deliveries d WHERE {where} {_OPEN}",  # noqa: S608
        {**params, "now": service.clock()},
    )
    return int(row["n"]) if row else 0


def _due_now(service: Service, where: str, params: dict[str, object]) -> int:
    now = service.clock()
    with service.store.write() as tx:
        moves = tx.tuples(
            f"SELECT d.trigger_id, d.status, d.id FROM deliveries d WHERE {where} {_OPEN}",  # noqa: S608
            {**params, "now": now},
        )
        tx.run(
            "UPDATE deliveries AS d SET status = 'waiting', tries = 0, next_at = :now, lease_until = 0, "  # noqa: S608
            f"updated_at = :now WHERE {where} {_OPEN}",
            {**params, "now": now},
        )
        counts.moved(tx, [(owner, status, "waiting") for owner, status, _ in moves])
    service.wake()
    return len(moves)
