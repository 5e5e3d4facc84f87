"""Sending again, by hand: the same event under the same id, signed with the key of today, from the schedule's start."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from webapp.errors import Conflict, Invalid
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import deliveries, endpoints, log
from webapp.service.domain.deliveries.log import Filter
from webapp.store.contract import Row

WHICH = ("failed", "all")


def resend(service: Service, trigger_id: str, delivery_id: str) -> Row:
    """Let one delivery be due now, whatever became of it; one that is on its way stays as it is.

    Raises :class:`NotFound`, :class:`Conflict` when its webhook is switched off or removed.
    """
    row = log.get(service.store, trigger_id, delivery_id)
    endpoint = endpoints.find(service.store, row["endpoint_id"])
    if endpoint is not None and endpoint.owner == "removed":
        raise Conflict("This webhook was removed, so nothing can be sent to it again. Its deliveries are kept to read.")
    if endpoint is not None and not endpoint.active:
        raise Conflict("This webhook is switched off; reset its delivery state first, then send again.")
    _due_now(service, "d.id = :id AND d.trigger_id = :trigger", {"id": delivery_id, "trigger": trigger_id})
    return log.get(service.store, trigger_id, delivery_id)


def resend_many(service: Service, trigger_id: str, which: str, filters: Filter, *, dry_run: bool) -> int:
    """Let the deliveries of a time be due now: those that have failed, or all that ended; how many there are.

    Those of webhooks that are switched off are left out. ``dry_run`` only counts. Raises :class:`Invalid`.
    """
    if which not in WHICH:
        raise Invalid.of("status", "Use failed or all.")
    where, params = log.where_of(trigger_id, replace(filters, status="failed" if which == "failed" else None))
    where = f"{where} AND d.status <> 'waiting'"
    if not dry_run:
        return _due_now(service, where, params)
    return deliveries.count_resendable(service.store, where, params, service.clock())


def _due_now(service: Service, where: str, params: Mapping[str, Any]) -> int:
    with service.store.write() as tx:
        count = deliveries.begin_again(tx, where, params, service.clock())
    service.wake()
    return count
