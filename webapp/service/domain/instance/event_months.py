"""Forgetting events by whole months, where the database keeps them so: their tables are dropped, no row is deleted.

A month goes in two transactions, so that nobody waits while it is counted. The first lets no statement see it any more;
the second takes it out of the counts and drops it. What dies in between is finished by the next turn.
"""

import logging
from typing import NamedTuple

from webapp.errors import Unavailable
from webapp.kit.clock import now
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events, stats
from webapp.store.contract import Row, Tx
from webapp.store.months import Month, Months

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


class Forgotten(NamedTuple):
    """How many events went with their months, and the months that are over and ``stay`` until they go as a whole."""

    events: int
    stay: list[Month]


def forget(service: Service, months: Months, limit: int) -> Forgotten:
    """Drop the months that were over before ``limit`` (epoch milliseconds).

    One that others read just then is dropped by a later turn. One in which something is to be kept, as it still waits
    to be delivered, does not ``stay``: the rest of it is deleted row by row. Neither does what is older than months.
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
    """Whether no statement sees ``month`` any more: not where something in it is to be kept."""
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
