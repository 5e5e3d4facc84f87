"""Claims deliveries that are due, so that each is sent by one worker at a time, and stores the outcome of each
attempt.

A claim moves ``next_at`` to the end of a lease that is longer than the request's deadline; the rows of a worker that
dies are due again then. An attempt is logged and settles its delivery, its endpoint's state and the usage, but only
while the row still has the number of that attempt: the outcome of a worker that was too slow is dropped.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from webapp.service.domain.deliveries import deliveries, endpoint_state, endpoints, retry, stats
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects import usage
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import NotShared, Row, Tx

LOOKED_AT = 400
SHED_AT_ONCE = 200
SMALL_BODY = 64 * 1024
Room = Callable[[Endpoint, int], int]
"""How many more deliveries to an endpoint may be claimed, where so many were just claimed for others."""


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
    """Claim due deliveries for the generation ``holder``, for each endpoint as many as it has room for, so that none
    holds up another.

    Raises :class:`NotShared` if an endpoint is not healthy.
    """
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
    """The endpoints of due deliveries. If many are due, each endpoint costs one step in the index."""
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
    """The facts of events that tasks need, with small bodies, read in one query."""
    names = {f"e{number}": event_id for number, event_id in enumerate(event_ids)}
    if not names:
        return {}
    listed = ", ".join(f":{name}" for name in names)
    small = "CASE WHEN LENGTH({0}) <= :small AND COALESCE(size, 0) <= :small AND in_parts = 0 THEN {0} END"
    columns = f"id, project_id, environment, {small.format('body')}, {small.format('body_sealed')}"
    rows = tx.tuples(f"SELECT {columns} FROM events WHERE id IN ({listed})", {**names, "small": SMALL_BODY})  # noqa: S608
    return {row[0]: {"scene": Scene(row[1], row[2]), "body": row[3], "sealed": row[4]} for row in rows}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt. ``error`` is None for a success; ``response`` may be shown to the trigger's owner."""

    task: Task
    at: int
    took_ms: int
    status: int | None
    error: str | None
    retry_after: int | None = None
    signed: Mapping[str, str] = field(default_factory=dict)
    response: Mapping[str, object] = field(default_factory=dict)

    @property
    def gone(self) -> bool:
        """Whether the receiver wants no more deliveries."""
        return self.status == retry.GONE


@dataclass(frozen=True, slots=True)
class _Settled:
    """An outcome, and the status and next time that it leads to."""

    outcome: Outcome
    status: str
    next_at: int | None


def finish(tx: Tx, outcomes: Sequence[Outcome], now: int) -> int:
    """Store the outcomes of attempts; return how many still counted. Raises :class:`NotShared` after a failure."""
    counted = _settle(tx, [_settled(outcome, now) for outcome in outcomes], now)
    by_endpoint: dict[str, list[Outcome]] = defaultdict(list)
    for settled in counted:
        by_endpoint[settled.outcome.task.endpoint.id].append(settled.outcome)
    for endpoint_id, of_endpoint in by_endpoint.items():
        gone = any(outcome.gone for outcome in of_endpoint)
        endpoint_state.apply(tx, endpoint_id, [outcome.error for outcome in of_endpoint], gone, now)
    stats.moved(tx, [(settled.outcome.task.trigger_id, "waiting", settled.status) for settled in counted])
    delivered = (settled.outcome.task for settled in counted if settled.status == "delivered")
    for scene, count in Counter(task.scene for task in delivered if task.trigger_id).items():
        usage.add(tx, scene, "event", now, count)
    return len(counted)


def _settled(outcome: Outcome, now: int) -> _Settled:
    if outcome.error is None:
        return _Settled(outcome, "delivered", None)
    pause = None if outcome.gone else retry.pause(outcome.task.tries + 1, outcome.retry_after)
    return _Settled(outcome, "failed", None) if pause is None else _Settled(outcome, "waiting", now + pause)


def _settle(tx: Tx, settled: Sequence[_Settled], now: int) -> list[_Settled]:
    """Write outcomes in two statements, however many there are; those whose attempt still counts."""
    if not settled:
        return []
    still = deliveries.settle(tx, [_row(attempt) for attempt in settled], now)
    counted = [attempt for attempt in settled if (attempt.outcome.task.id, attempt.outcome.task.attempt) in still]
    if counted:
        deliveries.add_attempts(tx, [_attempt(attempt.outcome) for attempt in counted])
    return counted


def _row(settled: _Settled) -> tuple[object, ...]:
    outcome, task = settled.outcome, settled.outcome.task
    attempt = (task.id, task.attempt, settled.status, settled.next_at)
    return (*attempt, outcome.status, outcome.error, outcome.took_ms, outcome.at)


def _attempt(outcome: Outcome) -> tuple[object, ...]:
    answer = (outcome.at, outcome.took_ms, outcome.status, outcome.error)
    signed, response = (orjson.dumps(dict(part)).decode() for part in (outcome.signed, outcome.response))
    return (outcome.task.id, outcome.task.attempt, *answer, signed, response)
