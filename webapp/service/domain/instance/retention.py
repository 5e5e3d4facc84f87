"""How long events are kept, with their deliveries and attempts: PATCHBAY_EVENT_DAYS, and PATCHBAY_EVENTS_KEPT of each
trigger. What still waits to be delivered is never forgotten, unless it waits for a webhook that is switched off.

On a database that keeps events by months, those of a month go together once all of it is too old (:mod:`event_months`).
Until then those of them that are too old already stay, since it is deleting them that costs."""

from collections.abc import Sequence
from typing import Any

from webapp.kit.clock import DAY, now
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, events
from webapp.service.domain.instance import event_months
from webapp.store.months import Month

AT_ONCE = 200
BY_MONTHS_FROM = 28
"""Who keeps events for fewer days has them deleted as they get old: a month would keep them for much longer."""
_DELIVERED = (
    "NOT EXISTS (SELECT 1 FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id "
    "WHERE d.event_id = e.id AND d.status = 'waiting' AND (p.active = 1 OR d.lease_until > 0))"
)


def purge(service: Service) -> int:
    """Forget events that are too old or too many; how many there were."""
    limit = service.clock() - service.settings.event_days * DAY
    gone, stay = _drop_months(service, limit)
    gone += _forget(service, *_too_old(limit, stay))
    for trigger_id in _crowded(service):
        mark = service.store.one(
            "SELECT at, id FROM events WHERE trigger_id = :trigger ORDER BY at DESC, id DESC LIMIT 1 OFFSET :kept",
            {"trigger": trigger_id, "kept": service.settings.events_kept},
        )
        if mark is not None:
            older = "e.trigger_id = :trigger AND (e.at, e.id) <= (:at, :id)"
            gone += _forget(service, older, {"trigger": trigger_id, **mark})
    with service.store.write() as tx:
        endpoints.purge(tx)
    return gone


def _drop_months(service: Service, limit: int) -> event_months.Forgotten:
    """Forget the months that are too old; those that are not deleted from are named."""
    months = service.store.months
    if months is None:
        return event_months.Forgotten(0, [])
    months.ensure(now())
    gone, stay = event_months.forget(service, months, limit)
    return event_months.Forgotten(gone, stay if service.settings.event_days >= BY_MONTHS_FROM else [])


def _too_old(limit: int, stay: Sequence[Month]) -> tuple[str, dict[str, Any]]:
    """What is deleted one by one: all that is older than ``limit``, without the months that ``stay``."""
    where, params = "e.at < :limit", dict[str, Any](limit=limit)
    for number, month in enumerate(stay):
        where += f" AND (e.id < :first_{number} OR e.id >= :end_{number})"
        params[f"first_{number}"], params[f"end_{number}"] = month.ids("evt")
    return where, params


def _crowded(service: Service) -> list[str]:
    rows = service.store.tuples(
        "SELECT trigger_id FROM events WHERE trigger_id IS NOT NULL GROUP BY trigger_id HAVING COUNT(*) > :kept",
        {"kept": service.settings.events_kept},
    )
    return [trigger_id for (trigger_id,) in rows]


def _forget(service: Service, where: str, params: dict[str, Any]) -> int:
    """A few at a time, so that nobody waits long for the write lock."""
    total = 0
    while True:
        with service.store.write() as tx:
            rows = tx.tuples(
                f"SELECT e.id FROM events e WHERE {where} AND {_DELIVERED} LIMIT :many",  # noqa: S608
                {**params, "many": AT_ONCE},
            )
            if rows:
                events.delete(tx, [event_id for (event_id,) in rows])
        total += len(rows)
        if len(rows) < AT_ONCE:
            return total
