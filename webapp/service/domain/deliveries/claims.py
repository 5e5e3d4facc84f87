"""Claiming deliveries that are due, so that each is sent by one worker at a time.

A claim moves ``next_at`` to the end of a lease that is longer than the request's deadline; a worker that dies leaves
rows which are due again then. What comes of an attempt is written only while the row still holds the number of that
attempt, so that a worker which was too slow changes nothing (:mod:`outcomes`).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webapp.service.domain.deliveries import deliveries, endpoint_state, endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import NotShared, Row, Tx

LOOKED_AT = 400
SHED_AT_ONCE = 200
SMALL_BODY = 64 * 1024

Room = Callable[[Endpoint, int], int]
"""How many deliveries more an endpoint may have on their way, when so many were claimed for others just now."""


@dataclass(frozen=True, slots=True)
class Task:
    """A delivery that was claimed, with the event's ``body`` or that ``sealed``; a large one is read when it is due."""

    id: str
    event_id: str
    trigger_id: str | None
    scene: Scene
    endpoint: Endpoint
    attempt: int
    tries: int
    lease_until: int
    body: bytes | None = field(repr=False)
    sealed: bytes | None = field(default=None, repr=False)


def claim(tx: Tx, now: int, room: Room, holder: int = 0) -> list[Task]:
    """Claim what is due for the generation ``holder``, for each endpoint as much as it has room for, so that none
    holds up another. Raises :class:`NotShared` where an endpoint is not well."""
    claimed: list[tuple[Endpoint, Row]] = []
    for endpoint in _due_endpoints(tx, now):
        if tx.shared and not (endpoint.active and endpoint.state == "happy"):
            raise NotShared
        if not endpoint.active:
            endpoint_state.stop(tx, endpoint, now)
            continue
        free = room(endpoint, len(claimed))
        if free > 0:
            claimed += [(endpoint, row) for row in deliveries.lease(tx, endpoint.id, holder, now, free)]
        if endpoint.state == "penalty":
            endpoint_state.shed(tx, endpoint, SHED_AT_ONCE, now)
    events = _events(tx, [row["event_id"] for _, row in claimed])
    return [Task(**row, **events[row["event_id"]], endpoint=endpoint) for endpoint, row in claimed]


def _due_endpoints(tx: Tx, now: int) -> list[Endpoint]:
    """The endpoints of what is due. When a lot is due, of all of it: each costs one step in the index."""
    rows = tx.tuples(
        "SELECT endpoint_id, COUNT(*) FROM (SELECT endpoint_id FROM deliveries WHERE next_at <= :now "
        "ORDER BY next_at LIMIT :limit) AS first GROUP BY endpoint_id",
        {"now": now, "limit": LOOKED_AT},
    )
    ids = [endpoint_id for endpoint_id, _ in rows]
    if sum(count for _, count in rows) == LOOKED_AT:
        ids = [endpoint_id for (endpoint_id,) in tx.tuples(_EVERY_DUE_ENDPOINT, {"now": now})]
    random.shuffle(ids)  # when there is not room for all, everybody's turn comes
    due = (endpoints.find(tx, endpoint_id) for endpoint_id in ids)
    return [endpoint for endpoint in due if endpoint is not None]


_EVERY_DUE_ENDPOINT = (
    "WITH RECURSIVE waiting (id) AS (SELECT MIN(endpoint_id) FROM deliveries WHERE next_at IS NOT NULL UNION ALL "
    "SELECT (SELECT MIN(d.endpoint_id) FROM deliveries d WHERE d.next_at IS NOT NULL AND d.endpoint_id > waiting.id) "
    "FROM waiting WHERE waiting.id IS NOT NULL) SELECT id FROM waiting WHERE id IS NOT NULL "
    "AND (SELECT MIN(d.next_at) FROM deliveries d WHERE d.endpoint_id = waiting.id AND d.next_at IS NOT NULL) <= :now"
)


def _events(tx: Tx, event_ids: Sequence[str]) -> dict[str, Row]:
    """What tasks need of their events, small bodies among it, read in one go."""
    names = {f"e{number}": event_id for number, event_id in enumerate(event_ids)}
    if not names:
        return {}
    listed = ", ".join(f":{name}" for name in names)
    small = "CASE WHEN LENGTH({0}) <= :small AND COALESCE(size, 0) <= :small AND in_parts = 0 THEN {0} END"
    columns = f"id, project_id, environment, {small.format('body')}, {small.format('body_sealed')}"
    rows = tx.tuples(f"SELECT {columns} FROM events WHERE id IN ({listed})", {**names, "small": SMALL_BODY})  # noqa: S608
    return {row[0]: {"scene": Scene(row[1], row[2]), "body": row[3], "sealed": row[4]} for row in rows}
