"""Deliveries (tables ``deliveries``, ``delivery_attempts``): the outbox. The table is the truth.

    waiting ──claim──▶ on its way (leased) ──2xx──▶ delivered
       ▲                     │ failure: next in the schedule
       └─────────────────────┴── schedule over, endpoint switched off ──▶ failed ──resend──▶ waiting

A claim is one ``UPDATE … RETURNING`` that moves ``next_at`` to the end of a lease longer than the request's deadline;
a worker that dies leaves rows which are due again then. What comes of an attempt is written only while the row still
holds the number of that attempt, so that a worker which was too slow changes nothing.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from webapp.kit.clock import SECOND
from webapp.kit.ids import ordered_id
from webapp.service.domain.deliveries import counts, endpoint_state, endpoints, retry
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects import usage
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx

LEASE = 40 * SECOND  # twice the request's deadline
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one attempt. ``error`` is None for a success; ``response`` may be shown to the trigger's owner."""

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


def add(tx: Tx, event_ids: Sequence[str], targets: Sequence[Endpoint], now: int, *, trigger_id: str | None) -> None:
    """A delivery of each event to each of ``targets``; one that is switched off misses it, and that is written down."""
    for endpoint in targets:
        waits = endpoint.active
        why = None if waits else f"Not sent, because the webhook is switched off. {endpoint.last_error or ''}".rstrip()
        for event_id in event_ids:
            tx.run(
                "INSERT INTO deliveries (id, event_id, endpoint_id, trigger_id, status, next_at, last_error, "
                "created_at, updated_at) VALUES (:id, :event, :endpoint, :trigger, :status, :next, :error, :now, :now)",
                {
                    "id": ordered_id("dlv"),
                    "event": event_id,
                    "endpoint": endpoint.id,
                    "trigger": trigger_id,
                    "status": "waiting" if waits else "failed",
                    "next": now if waits else None,
                    "error": why,
                    "now": now,
                },
            )
        counts.added(tx, trigger_id, "waiting" if waits else "failed", len(event_ids))


def next_due_at(reader: Reader, after: int | None = None) -> int | None:
    """When the next delivery is due; with ``after`` the next later than that."""
    if after is None:
        row = reader.tuples("SELECT MIN(next_at) FROM deliveries WHERE next_at IS NOT NULL")
    else:
        row = reader.tuples("SELECT MIN(next_at) FROM deliveries WHERE next_at > :after", {"after": after})
    return row[0][0] if row else None


def claim(tx: Tx, now: int, room: Room) -> list[Task]:
    """Claim what is due, for each endpoint as much as it has room for, so that none holds up another."""
    tasks: list[Task] = []
    for endpoint in _due_endpoints(tx, now):
        if not endpoint.active:
            endpoint_state.fail_waiting(tx, endpoint.id, endpoint.last_error or "", now)
            continue
        free = room(endpoint, len(tasks))
        if free > 0:
            tasks += _claim_of(tx, endpoint, now, free)
        if endpoint.state == "penalty":
            endpoint_state.shed(tx, endpoint, SHED_AT_ONCE, now)
    return _with_events(tx, tasks)


def finish(tx: Tx, outcomes: Sequence[Outcome], now: int) -> int:
    """Write down what came of attempts; how many of them still counted."""
    settled = [_settled(outcome, now) for outcome in outcomes]
    counted = _write(tx, settled, now)
    by_endpoint: dict[str, list[Outcome]] = defaultdict(list)
    for one in counted:
        by_endpoint[one.outcome.task.endpoint.id].append(one.outcome)
    for endpoint_id, found in by_endpoint.items():
        gone = any(one.gone for one in found)
        endpoint_state.apply(tx, endpoint_id, [one.error for one in found], gone, now)
    counts.moved(tx, [(one.outcome.task.trigger_id, "waiting", one.status) for one in counted])
    scenes = Counter(
        one.outcome.task.scene for one in counted if one.status == "delivered" and one.outcome.task.trigger_id
    )
    for scene, count in scenes.items():
        usage.add(tx, scene, "event", now, count)
    return len(counted)


def realign(tx: Tx, now: int) -> int:
    """Bring near what was put off by a clock that has since been set back: each keeps the pause that it was given."""
    return tx.run(
        "UPDATE deliveries SET next_at = :now + next_at - updated_at, updated_at = :now, "
        "lease_until = CASE WHEN lease_until > 0 THEN :now + lease_until - updated_at ELSE 0 END "
        "WHERE next_at > :now AND updated_at > :now",
        {"now": now},
    )


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
    return [found for endpoint_id in ids if (found := endpoints.find(tx, endpoint_id)) is not None]


_EVERY_DUE_ENDPOINT = (
    "WITH RECURSIVE waiting (id) AS (SELECT MIN(endpoint_id) FROM deliveries WHERE next_at IS NOT NULL UNION ALL "
    "SELECT (SELECT MIN(d.endpoint_id) FROM deliveries d WHERE d.next_at IS NOT NULL AND d.endpoint_id > waiting.id) "
    "FROM waiting WHERE waiting.id IS NOT NULL) SELECT id FROM waiting WHERE id IS NOT NULL "
    "AND (SELECT MIN(d.next_at) FROM deliveries d WHERE d.endpoint_id = waiting.id AND d.next_at IS NOT NULL) <= :now"
)


def _claim_of(tx: Tx, endpoint: Endpoint, now: int, limit: int) -> list[Task]:
    rows = tx.all(
        "UPDATE deliveries SET attempt = attempt + 1, lease_until = :lease, next_at = :lease, updated_at = :now "
        "WHERE id IN (SELECT id FROM deliveries WHERE endpoint_id = :endpoint AND next_at <= :now "
        "ORDER BY next_at LIMIT :limit) RETURNING id, event_id, trigger_id, attempt, tries",
        {"lease": now + LEASE, "now": now, "endpoint": endpoint.id, "limit": limit},
    )
    nowhere = Scene("", "development")  # until the event is read, a moment later
    return [Task(scene=nowhere, endpoint=endpoint, lease_until=now + LEASE, body=None, **row) for row in rows]


def _with_events(tx: Tx, tasks: list[Task]) -> list[Task]:
    """The tasks with their events' small bodies, read in one go."""
    names = {f"e{number}": task.event_id for number, task in enumerate(tasks)}
    if not names:
        return []
    listed = ", ".join(f":{name}" for name in names)
    small = "CASE WHEN LENGTH({0}) <= :small THEN {0} END"
    columns = f"id, project_id, environment, {small.format('body')}, {small.format('body_sealed')}"
    rows = tx.tuples(f"SELECT {columns} FROM events WHERE id IN ({listed})", {**names, "small": SMALL_BODY})  # noqa: S608
    found = {row[0]: (Scene(row[1], row[2]), *row[3:]) for row in rows}
    return [
        Task(
            id=task.id,
            event_id=task.event_id,
            trigger_id=task.trigger_id,
            scene=found[task.event_id][0],
            endpoint=task.endpoint,
            attempt=task.attempt,
            tries=task.tries,
            lease_until=task.lease_until,
            body=found[task.event_id][1],
            sealed=found[task.event_id][2],
        )
        for task in tasks
    ]


@dataclass(frozen=True, slots=True)
class _Settled:
    """An outcome, and the status and next time that it leads to."""

    outcome: Outcome
    status: str
    next_at: int | None


def _settled(outcome: Outcome, now: int) -> _Settled:
    if outcome.error is None:
        return _Settled(outcome, "delivered", None)
    pause = None if outcome.gone else retry.pause(outcome.task.tries + 1, outcome.retry_after)
    return _Settled(outcome, "failed", None) if pause is None else _Settled(outcome, "waiting", now + pause)


def _write(tx: Tx, settled: Sequence[_Settled], now: int) -> list[_Settled]:
    """Write outcomes in two statements, however many there are; those whose attempt still counts."""
    if not settled:
        return []
    rows = [
        (one.outcome.task.id, one.outcome.task.attempt, one.status, one.next_at, one.outcome.status, one.outcome.error,
         one.outcome.took_ms, one.outcome.at)
        for one in settled
    ]  # fmt: skip
    values, params = _values(rows)
    changed = tx.tuples(
        "UPDATE deliveries SET status = v.column3, tries = tries + 1, next_at = CAST(v.column4 AS BIGINT), "  # noqa: S608
        "lease_until = 0, last_status = CAST(v.column5 AS INTEGER), last_error = v.column6, "
        "took_ms = CAST(v.column7 AS BIGINT), last_at = CAST(v.column8 AS BIGINT), "
        f"updated_at = :now FROM (VALUES {values}) AS v "
        "WHERE id = v.column1 AND attempt = v.column2 AND lease_until > 0 RETURNING id, attempt",
        {**params, "now": now},
    )
    still = set(changed)
    counted = [one for one in settled if (one.outcome.task.id, one.outcome.task.attempt) in still]
    if counted:
        values, params = _values([_attempt(one.outcome) for one in counted])
        columns = "delivery_id, n, at, took_ms, status, error, signed, response"
        tx.run(f"INSERT INTO delivery_attempts ({columns}) VALUES {values}", params)  # noqa: S608
    return counted


def _attempt(outcome: Outcome) -> tuple[object, ...]:
    signed, response = (orjson.dumps(dict(one)).decode() for one in (outcome.signed, outcome.response))
    return (
        outcome.task.id, outcome.task.attempt, outcome.at, outcome.took_ms, outcome.status, outcome.error, signed,
        response,
    )  # fmt: skip


def _values(rows: Sequence[tuple[object, ...]]) -> tuple[str, dict[str, object]]:
    """``rows`` for ``VALUES``: the marks and the parameters."""
    marks = [[f"r{n}_{m}" for m in range(len(row))] for n, row in enumerate(rows)]
    params = {
        mark: value for names, row in zip(marks, rows, strict=True) for mark, value in zip(names, row, strict=True)
    }
    return ", ".join(f"({', '.join(':' + mark for mark in names)})" for names in marks), params
