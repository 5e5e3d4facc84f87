"""What comes of attempts to deliver: each is logged and settles its delivery, its endpoint's state and the usage."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from webapp.service.domain.deliveries import attempts, counts, deliveries, endpoint_state, retry
from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.projects import usage
from webapp.store.contract import Tx


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


@dataclass(frozen=True, slots=True)
class _Settled:
    """An outcome, and the status and next time that it leads to."""

    outcome: Outcome
    status: str
    next_at: int | None


def finish(tx: Tx, outcomes: Sequence[Outcome], now: int) -> int:
    """Write down what came of attempts; how many of them still counted. Raises :class:`NotShared` after a failure."""
    counted = _settle(tx, [_settled(outcome, now) for outcome in outcomes], now)
    by_endpoint: dict[str, list[Outcome]] = defaultdict(list)
    for settled in counted:
        by_endpoint[settled.outcome.task.endpoint.id].append(settled.outcome)
    for endpoint_id, of_endpoint in by_endpoint.items():
        gone = any(outcome.gone for outcome in of_endpoint)
        endpoint_state.apply(tx, endpoint_id, [outcome.error for outcome in of_endpoint], gone, now)
    counts.moved(tx, [(settled.outcome.task.trigger_id, "waiting", settled.status) for settled in counted])
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
        attempts.add(tx, [_attempt(attempt.outcome) for attempt in counted])
    return counted


def _row(settled: _Settled) -> tuple[object, ...]:
    outcome, task = settled.outcome, settled.outcome.task
    attempt = (task.id, task.attempt, settled.status, settled.next_at)
    return (*attempt, outcome.status, outcome.error, outcome.took_ms, outcome.at)


def _attempt(outcome: Outcome) -> tuple[object, ...]:
    answer = (outcome.at, outcome.took_ms, outcome.status, outcome.error)
    signed, response = (orjson.dumps(dict(part)).decode() for part in (outcome.signed, outcome.response))
    return (outcome.task.id, outcome.task.attempt, *answer, signed, response)
