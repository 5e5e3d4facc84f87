"""What deliveries do to the endpoint they go to (table ``endpoints``).

    happy ──failures in a row──▶ penalty ──410, or 5 days without one success──▶ deactivated
      ◀────────one success─────────┘                                                  │
      ◀──────────────────────────reset by a person──────────────────────────────────┘

An endpoint in penalty gets fewer deliveries at once; what is put off is counted in ``sheds``. A deactivated one gets
none: what waited for it has failed and can be sent again once it was reset.
"""

from collections.abc import Sequence

from webapp.kit.clock import DAY
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import counts, endpoints, retry
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.store.contract import Tx

_GONE = "The receiver answered 410 Gone: it wants no more deliveries."
PULLED_AT_ONCE = 1_000


def apply(tx: Tx, endpoint_id: str, errors: Sequence[str | None], gone: bool, now: int) -> None:
    """Write down how deliveries to an endpoint went, in their order: None for a success, else why it failed."""
    if None in errors:
        _succeeded(tx, endpoint_id, now)
    trailing = _trailing(errors)
    if not trailing:
        return
    rows = tx.all(
        "UPDATE endpoints SET consecutive_failures = consecutive_failures + :failures, last_error = :error, "
        "failing_since = COALESCE(failing_since, :now), updated_at = :now, "
        "state = CASE WHEN consecutive_failures + :failures >= :many THEN 'penalty' ELSE state END, "
        "state_since = CASE WHEN state = 'happy' AND consecutive_failures + :failures >= :many THEN :now "
        "ELSE state_since END WHERE id = :id AND active = 1 RETURNING failing_since",
        {
            "failures": len(trailing),
            "error": trailing[-1],
            "now": now,
            "many": retry.PENALTY_FROM,
            "id": endpoint_id,
        },
    )
    if rows and gone:
        deactivate(tx, endpoint_id, _GONE, now)
    elif rows and rows[0]["failing_since"] <= now - retry.GIVE_UP_AFTER:
        days = retry.GIVE_UP_AFTER // DAY
        deactivate(tx, endpoint_id, f"No delivery has succeeded for {days} days. The last error: {trailing[-1]}", now)


def deactivate(tx: Tx, endpoint_id: str, reason: str, now: int) -> None:
    """Send nothing more to an endpoint, and say why. What is on its way ends by itself."""
    tx.run(
        "UPDATE endpoints SET active = 0, state = 'deactivated', state_since = :now, last_error = :reason, "
        "updated_at = :now WHERE id = :id AND active = 1",
        {"reason": reason, "now": now, "id": endpoint_id},
    )
    fail_waiting(tx, endpoint_id, reason, now)


def fail_waiting(tx: Tx, endpoint_id: str, reason: str, now: int) -> None:
    """Let fail what waits for an endpoint and is not on its way."""
    rows = tx.tuples(
        "UPDATE deliveries SET status = 'failed', next_at = NULL, lease_until = 0, last_error = :reason, "
        "updated_at = :now WHERE endpoint_id = :id AND next_at IS NOT NULL AND lease_until <= :now "
        "RETURNING trigger_id",
        {"reason": f"Not sent, because the webhook is switched off. {reason}", "now": now, "id": endpoint_id},
    )
    counts.moved(tx, [(trigger_id, "waiting", "failed") for (trigger_id,) in rows])


def shed(tx: Tx, endpoint: Endpoint, limit: int, now: int) -> int:
    """Put off up to ``limit`` deliveries that are due for an endpoint in penalty; how many there were."""
    count = tx.run(
        "UPDATE deliveries SET next_at = :later, updated_at = :now WHERE id IN (SELECT id FROM deliveries "
        "WHERE endpoint_id = :id AND next_at <= :now ORDER BY next_at LIMIT :limit)",
        {"later": now + retry.put_off(endpoint.consecutive_failures), "id": endpoint.id, "now": now, "limit": limit},
    )
    if count:
        tx.run("UPDATE endpoints SET sheds = sheds + :count WHERE id = :id", {"count": count, "id": endpoint.id})
    return count


def reset(service: Service, endpoint: Endpoint) -> Endpoint:
    """Begin anew with an endpoint, as a person wishes: active, happy, and what waits for it is due now."""
    with service.store.write() as tx:
        begin_anew(tx, endpoint, service.clock())
        found = endpoints.find(tx, endpoint.id) or endpoint
    service.wake()
    return found


def begin_anew(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """:func:`reset`, in a transaction of the caller's."""
    endpoints.move(tx, endpoint, endpoint.url, now)
    _pull(tx, endpoint.id, now)


def _succeeded(tx: Tx, endpoint_id: str, now: int) -> None:
    """Writes nothing while all is well, which is nearly always."""
    recovered = tx.tuples(
        "UPDATE endpoints SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, updated_at = :now, "
        "state_since = CASE WHEN state = 'happy' THEN state_since ELSE :now END, state = 'happy' "
        "WHERE id = :id AND active = 1 AND consecutive_failures > 0 RETURNING sheds",
        {"now": now, "id": endpoint_id},
    )
    if recovered and recovered[0][0]:
        _pull(tx, endpoint_id, now)


def _pull(tx: Tx, endpoint_id: str, now: int) -> None:
    """Let what was put off without having been tried be due now; the rest of a long queue keeps its time."""
    tx.run(
        "UPDATE deliveries SET next_at = :now, updated_at = :now WHERE id IN (SELECT id FROM deliveries WHERE "
        "endpoint_id = :id AND next_at > :now AND lease_until <= :now AND tries = 0 ORDER BY next_at LIMIT :limit)",
        {"now": now, "id": endpoint_id, "limit": PULLED_AT_ONCE},
    )


def _trailing(errors: Sequence[str | None]) -> list[str]:
    """The failures after the last success."""
    found: list[str] = []
    for error in errors:
        found = [] if error is None else [*found, error]
    return found
