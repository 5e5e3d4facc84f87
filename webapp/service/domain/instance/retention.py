"""How long events are kept, with their deliveries and attempts: PATCHBAY_EVENT_DAYS, and PATCHBAY_EVENTS_KEPT of each
trigger. What still waits to be delivered is never forgotten, unless it waits for a webhook that is switched off."""

from typing import Any

from webapp.kit.clock import DAY
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, events

AT_ONCE = 200
_DELIVERED = (
    "NOT EXISTS (SELECT 1 FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id "
    "WHERE d.event_id = e.id AND d.status = 'waiting' AND (p.active = 1 OR d.lease_until > 0))"
)


def purge(service: Service) -> int:
    """Forget events that are too old or too many; how many there were."""
    limit = service.clock() - service.settings.event_days * DAY
    gone = _forget(service, "e.at < :limit", {"limit": limit})
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
