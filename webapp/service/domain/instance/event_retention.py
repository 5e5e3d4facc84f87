"""Deletes old events with their deliveries and attempts: PATCHBAY_EVENT_DAYS, and PATCHBAY_EVENTS_KEPT of each
trigger.

An event that still has to be delivered is kept, unless its webhook is switched off. On a database that stores events by
months, a month is dropped once all of it is too old; until then its old events stay, since deleting rows is expensive.
A month is dropped in two transactions, so that nobody waits while it is counted: the first hides it from all
statements, the second subtracts it from the counts and drops it. An interrupted drop is completed by the next turn.
"""

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from webapp.errors import Unavailable
from webapp.kit.clock import DAY, now
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, events, stats
from webapp.store.contract import Row, Tx
from webapp.store.months import Month, Months

AT_ONCE = 200
BY_MONTHS_FROM = 28  # days; whoever keeps events for less has rows deleted, since a month would keep them much longer
log = logging.getLogger(__name__)
_OF_MONTH = "FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id WHERE d.id >= :first AND d.id < :end AND "
_WAITS = "(p.active = 1 OR d.lease_until > 0)"
_IN_USE = (
    f"SELECT 1 {_OF_MONTH} d.next_at IS NOT NULL AND {_WAITS} LIMIT 1",
    f"SELECT 1 {_OF_MONTH} d.next_at IS NULL AND d.status = 'waiting' AND {_WAITS} LIMIT 1",
    "SELECT 1 FROM events WHERE id >= :first_event AND id < :end_event AND at >= :limit LIMIT 1",
)
_ASTRIDE = (
    f"SELECT d.event_id, d.status = 'waiting' AND {_WAITS} FROM deliveries d "  # noqa: S608 - constants
    "JOIN endpoints p ON p.id = d.endpoint_id WHERE d.event_id >= :first_event AND d.event_id < :end_event "
    "AND (d.id < :first OR d.id >= :end)"
)
_DELIVERED = (
    "NOT EXISTS (SELECT 1 FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id "
    "WHERE d.event_id = e.id AND d.status = 'waiting' AND (p.active = 1 OR d.lease_until > 0))"
)


class Forgotten(NamedTuple):
    """The number of events dropped with their months, and the past months that ``stay`` until they can be dropped."""

    events: int
    stay: list[Month]


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


def _drop_months(service: Service, limit: int) -> Forgotten:
    """Forget the months that are too old; those that are not deleted from are named."""
    months = service.store.months
    if months is None:
        return Forgotten(0, [])
    months.ensure(now())
    gone, stay = _forget_months(service, months, limit)
    return Forgotten(gone, stay if service.settings.event_days >= BY_MONTHS_FROM else [])


def _too_old(limit: int, stay: Sequence[Month]) -> tuple[str, dict[str, Any]]:
    """The events to delete row by row: those older than ``limit``, except in months that ``stay``."""
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
    """Delete a few at a time, so that nobody waits long for the write lock."""
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


def _forget_months(service: Service, months: Months, limit: int) -> Forgotten:
    """Drop the months that ended before ``limit`` (epoch milliseconds).

    One that is being read is dropped by a later turn. A month with events that still have to be delivered does not
    ``stay``: its other events are deleted row by row, like those older than all months.
    """
    gone, stay = 0, list[Month]()
    for month in (each for each in months.existing() if each.end <= now()):
        if month.attached and month.end > limit:
            stay += [] if month.holds_earlier else [month]
            continue
        try:
            if not month.attached or _detach(service, months, month, limit):
                gone += _drop(service, months, month)
        except Unavailable as error:
            log.info("the events of %s are forgotten later: %s", month.name, error.message)
            stay.append(month)
    return Forgotten(gone, stay)


def _detach(service: Service, months: Months, month: Month, limit: int) -> bool:
    """Hide ``month`` from all statements, and return True, unless it has events to keep."""
    (first, end), (first_event, end_event) = month.ids("dlv"), month.ids("evt")
    params = {"first": first, "end": end, "first_event": first_event, "end_event": end_event, "limit": limit}
    with service.store.write() as tx:
        if any(tx.tuples(look, params) for look in _IN_USE) or not _delete_astride(tx, params):
            return False
        months.detach(tx, month)
    return True


def _delete_astride(tx: Tx, params: Row) -> bool:
    """Delete the events of a month whose deliveries are of another, as at midnight; False where one still waits."""
    rows = tx.tuples(_ASTRIDE, params)
    if any(waits for _, waits in rows):
        return False
    if rows:
        events.delete(tx, sorted({event_id for event_id, _ in rows}))
    return True


def _drop(service: Service, months: Months, month: Month) -> int:
    held = months.counts(month)
    with service.store.write() as tx:
        months.drop(tx, month, stats.of_month(tx, held))
    return sum(row.count for row in held if row.status == "events")
