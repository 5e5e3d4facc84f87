"""The state of an endpoint, which the outcomes of its deliveries change.

    happy ──PENALTY_FROM failures in a row──▶ penalty ──410, or GIVE_UP_AFTER without one success──▶ deactivated
      ◀───────────────one success────────────────┘                                                        │
      ◀─────────────────────────────────────────reset by a person─────────────────────────────────────────┘

The arrows are statements of :mod:`endpoints`, which owns the table: ``record_failures`` and ``record_success``,
``switch_off`` and ``restart``. When each is due is decided here.

An endpoint in penalty gets one delivery at a time; the others are put off and counted in ``sheds``. From time to time
the oldest of them is tried, and once one succeeds all are sent, those that wait for a retry too, oldest first and in
parts, so that new ones are sent in between. For a deactivated endpoint everything is put off until it is reset.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from webapp.kit.clock import DAY, MINUTE, SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import deliveries, endpoints, retry
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.store.contract import NotShared, Tx

PENALTY_FROM = 3
"""So many failures in a row, and an endpoint gets one delivery at a time."""
GIVE_UP_AFTER = 5 * DAY
"""An endpoint that fails this long without one success is deactivated."""
_PUT_OFF, _LONGEST_PUT_OFF = 2 * SECOND, 5 * MINUTE
PART = 200  # of the deliveries that were put off are due at once; new ones wait for as many
ENOUGH = PART // 2
_MANY = 10_000
_GONE = "The receiver answered 410 Gone: it accepts no more deliveries."


def apply(tx: Tx, endpoint_id: str, errors: Sequence[str | None], gone: bool, now: int) -> None:
    """Record the outcomes of deliveries to an endpoint, in their order: None for a success, else the error.

    Raises :class:`NotShared` if they change its state.
    """
    if tx.shared:
        if any(errors) or not _is_healthy(tx, endpoint_id):
            raise NotShared
        return
    if None in errors:
        endpoint = endpoints.find(tx, endpoint_id)
        sheds = endpoints.record_success(tx, endpoint_id, now)
        if sheds or (endpoint is not None and endpoint.state == "penalty"):
            resume(tx, endpoint_id, now)
        elif deliveries.is_put_off(tx, endpoint_id):
            _resume_part(tx, endpoint_id, now)
    trailing = _trailing(errors)
    if not trailing:
        return
    failing = endpoints.record_failures(tx, endpoint_id, len(trailing), trailing[-1], now, penalty_from=PENALTY_FROM)
    if failing is None:
        return
    if gone:
        deactivate(tx, endpoint_id, _GONE, now)
    elif failing.since <= now - GIVE_UP_AFTER:
        days = GIVE_UP_AFTER // DAY
        deactivate(tx, endpoint_id, f"No delivery has succeeded for {days} days. The last error: {trailing[-1]}", now)
    else:
        _try_again(tx, endpoint_id, failing.in_a_row, now)


def deactivate(tx: Tx, endpoint_id: str, reason: str, now: int) -> None:
    """Send nothing more to an endpoint until it is reset, and store why. Claimed deliveries still end."""
    endpoints.switch_off(tx, endpoint_id, reason, now)
    deliveries.put_all_off(tx, endpoint_id, reason, now)


def remove(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """Remove an endpoint. Deliveries that wait for it fail; the outcomes of others stay in the log of their events."""
    endpoints.remove(tx, endpoint, now)
    deliveries.fail_all(tx, endpoint.id, endpoints.REMOVED, now)


def stop(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """Put off what is due for an endpoint that is not active."""
    if endpoint.owner == "removed":
        deliveries.fail_all(tx, endpoint.id, endpoints.REMOVED, now)
    else:
        deliveries.put_all_off(tx, endpoint.id, endpoint.last_error or "", now)


def shed(tx: Tx, endpoint: Endpoint, limit: int, now: int) -> int:
    """Put off up to ``limit`` deliveries that are due for an endpoint in penalty; how many there were."""
    count = deliveries.put_off(tx, endpoint.id, now, limit)
    if count:
        endpoints.record_sheds(tx, endpoint.id, count)
        if deliveries.next_of_endpoint(tx, endpoint.id) is None:
            _try_again(tx, endpoint.id, endpoint.consecutive_failures, now)
    return count


def reset(service: Service, endpoint: Endpoint) -> Endpoint:
    """Enable an endpoint on request: it is active and happy, and what waits for it is due now."""
    with service.store.write() as tx:
        restart(tx, endpoint, service.clock())
        fresh = endpoints.find(tx, endpoint.id) or endpoint
    service.wake()
    return fresh


def restart(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """:func:`reset`, in a transaction of the caller's."""
    endpoints.restart(tx, endpoint, now)
    resume(tx, endpoint.id, now)


def resume(tx: Tx, endpoint_id: str, now: int) -> None:
    """Begin to send what was put off for a healthy endpoint, oldest first."""
    deliveries.put_waiting_off(tx, endpoint_id, now, _MANY)  # so that nothing younger comes before
    _resume_part(tx, endpoint_id, now)


def pause(consecutive_failures: int, draw: Callable[[], float] = random.random) -> int:
    """How long (ms) to put off deliveries for a failing endpoint, beyond the few that are tried."""
    steps = min(max(consecutive_failures - PENALTY_FROM, 0), 16)
    return retry.jittered(min(_PUT_OFF << steps, _LONGEST_PUT_OFF), draw)


def to_json(endpoint: Endpoint) -> dict[str, Any]:
    """The state of an endpoint in the API; times in seconds."""
    state = {
        "state": endpoint.state,
        "since": endpoint.state_since // SECOND,
        "last_error": endpoint.last_error,
        "consecutive_failures": endpoint.consecutive_failures,
        "sheds": endpoint.sheds,
    }
    return {"active": endpoint.active, "delivery_state": state}


def _is_healthy(tx: Tx, endpoint_id: str) -> bool:
    """Whether the last delivery to an active endpoint succeeded, and none is put off."""
    endpoint = endpoints.find(tx, endpoint_id)
    healthy = endpoint is not None and endpoint.active and endpoint.last_error is None
    return healthy and not deliveries.is_put_off(tx, endpoint_id)


def _resume_part(tx: Tx, endpoint_id: str, now: int) -> None:
    """Make the next part of what was put off due, unless enough is already."""
    if deliveries.count_due(tx, endpoint_id, ENOUGH, now) < ENOUGH:
        deliveries.bring_forward(tx, endpoint_id, now, PART, now)


def _try_again(tx: Tx, endpoint_id: str, failures: int, now: int) -> None:
    """Have the oldest that was put off tried after a while, unless another delivery is tried earlier."""
    at, next_at = now + pause(failures), deliveries.next_of_endpoint(tx, endpoint_id)
    if next_at is None or next_at > at:
        deliveries.bring_forward(tx, endpoint_id, at, 1, now)


def _trailing(errors: Sequence[str | None]) -> list[str]:
    """The failures after the last success."""
    failures: list[str] = []
    for error in errors:
        failures = [] if error is None else [*failures, error]
    return failures
