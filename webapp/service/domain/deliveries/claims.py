"""Claims deliveries that are due, so that each is sent by one worker at a time, and stores the outcome of each
attempt.

A claim moves ``next_at`` to the end of a lease that is longer than the request's deadline; the rows of a worker that
dies are due again then. The outcome of an attempt is logged, and changes the delivery, the endpoint's state and the
usage, but only while the row still has the number of that attempt: that of a worker that was too slow is dropped.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from webapp.service.domain.deliveries import deliveries, endpoint_state, endpoints, retry, stats
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects import app_usage, usage
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import NotShared, Row, Tx

MAX_DUE = 400
SHED_AT_ONCE = 200
SMALL_BODY = 64 * 1024
Room = Callable[[Endpoint, int], int]
"""How many more deliveries to an endpoint may be claimed, where so many were just claimed for others."""


@dataclass(frozen=True, slots=True)
class Task:
    """A claimed delivery, with the event's ``body``, or ``sealed`` instead; a large body is read when it is sent."""

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
    app: str | None = None


def claim(tx: Tx, now: int, room: Room, holder: int = 0) -> list[Task]:
    """Claim due deliveries for the generation ``holder``, for each endpoint as many as it has room for, so that none
    delays another.

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
        {"now": now, "limit": MAX_DUE},
    )
    ids = [endpoint_id for endpoint_id, _ in rows]
    if sum(count for _, count in rows) == MAX_DUE:
        ids = [endpoint_id for (endpoint_id,) in tx.tuples(_EVERY_DUE_ENDPOINT, {"now": now})]
    random.shuffle(ids)  # so that each has its turn if there is not room for all
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
    columns = f"id, project_id, environment, app, {small.format('body')}, {small.format('body_sealed')}"
    rows = tx.tuples(f"SELECT {columns} FROM events WHERE id IN ({listed})", {**names, "small": SMALL_BODY})  # noqa: S608
    return {row[0]: {"scene": Scene(*row[1:3]), "app": row[3], "body": row[4], "sealed": row[5]} for row in rows}


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
class _Result:
    """An outcome, and the delivery's next status and time."""

    outcome: Outcome
    status: str
    next_at: int | None


def finish(tx: Tx, outcomes: Sequence[Outcome], now: int) -> int:
    """Store the outcomes of attempts; return how many still counted. Raises :class:`NotShared` after a failure."""
    results = _write(tx, [_result_of(outcome, now) for outcome in outcomes], now)
    by_endpoint: dict[str, list[Outcome]] = defaultdict(list)
    for result in results:
        by_endpoint[result.outcome.task.endpoint.id].append(result.outcome)
    for endpoint_id, of_endpoint in by_endpoint.items():
        gone = any(outcome.gone for outcome in of_endpoint)
        endpoint_state.apply(tx, endpoint_id, [outcome.error for outcome in of_endpoint], gone, now)
    stats.moved(tx, [(result.outcome.task.trigger_id, "waiting", result.status) for result in results])
    delivered = (result.outcome.task for result in results if result.status == "delivered")
    for scene, count in Counter(task.scene for task in delivered if task.trigger_id).items():
        usage.add(tx, scene, "event", now, count)
    failed = (result.outcome.task for result in results if result.status == "failed")
    for (scene, app), count in Counter((task.scene, task.app) for task in failed if task.trigger_id).items():
        app_usage.add(tx, scene, app, "failed_delivery", now, count)
    return len(results)


def _result_of(outcome: Outcome, now: int) -> _Result:
    if outcome.error is None:
        return _Result(outcome, "delivered", None)
    pause = None if outcome.gone else retry.pause(outcome.task.tries + 1, outcome.retry_after)
    return _Result(outcome, "failed", None) if pause is None else _Result(outcome, "waiting", now + pause)


def _write(tx: Tx, results: Sequence[_Result], now: int) -> list[_Result]:
    """Write results in two statements, however many there are; return those whose attempt still counts."""
    if not results:
        return []
    still = deliveries.end_attempts(tx, [_row(result) for result in results], now)
    counted = [result for result in results if (result.outcome.task.id, result.outcome.task.attempt) in still]
    if counted:
        deliveries.add_attempts(tx, [_attempt(result.outcome) for result in counted])
    return counted


def _row(result: _Result) -> tuple[object, ...]:
    outcome, task = result.outcome, result.outcome.task
    attempt = (task.id, task.attempt, result.status, result.next_at)
    return (*attempt, outcome.status, outcome.error, outcome.took_ms, outcome.at)


def _attempt(outcome: Outcome) -> tuple[object, ...]:
    answer = (outcome.at, outcome.took_ms, outcome.status, outcome.error)
    signed, response = (orjson.dumps(dict(part)).decode() for part in (outcome.signed, outcome.response))
    return (outcome.task.id, outcome.task.attempt, *answer, signed, response)
