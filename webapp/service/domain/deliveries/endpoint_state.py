"""How deliveries change the state of the endpoint that they go to.

    happy ──failures in a row──▶ penalty ──410, or 5 days without one success──▶ deactivated
      ◀────────one success─────────┘                                                  │
      ◀──────────────────────────reset by a person──────────────────────────────────┘

An endpoint in penalty gets fewer deliveries at once; what is put off is counted in ``sheds``. A deactivated one gets
none: what waited for it has failed and can be sent again once it was reset.
"""

from collections.abc import Sequence

from webapp.kit.clock import DAY
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import deliveries, endpoints, retry
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.store.contract import Tx

_GONE = "The receiver answered 410 Gone: it wants no more deliveries."


def apply(tx: Tx, endpoint_id: str, errors: Sequence[str | None], gone: bool, now: int) -> None:
    """Write down how deliveries to an endpoint went, in their order: None for a success, else why it failed."""
    if None in errors and endpoints.record_success(tx, endpoint_id, now):
        deliveries.bring_forward(tx, endpoint_id, now)
    trailing = _trailing(errors)
    if not trailing:
        return
    since = endpoints.record_failures(tx, endpoint_id, len(trailing), trailing[-1], now)
    if since is not None and gone:
        deactivate(tx, endpoint_id, _GONE, now)
    elif since is not None and since <= now - retry.GIVE_UP_AFTER:
        days = retry.GIVE_UP_AFTER // DAY
        deactivate(tx, endpoint_id, f"No delivery has succeeded for {days} days. The last error: {trailing[-1]}", now)


def deactivate(tx: Tx, endpoint_id: str, reason: str, now: int) -> None:
    """Send nothing more to an endpoint, and say why. What is on its way ends by itself."""
    endpoints.switch_off(tx, endpoint_id, reason, now)
    deliveries.fail_waiting(tx, endpoint_id, reason, now)


def shed(tx: Tx, endpoint: Endpoint, limit: int, now: int) -> int:
    """Put off up to ``limit`` deliveries that are due for an endpoint in penalty; how many there were."""
    later = now + retry.put_off(endpoint.consecutive_failures)
    count = deliveries.put_off(tx, endpoint.id, later, now, limit)
    if count:
        endpoints.record_sheds(tx, endpoint.id, count)
    return count


def reset(service: Service, endpoint: Endpoint) -> Endpoint:
    """Begin anew with an endpoint, as a person wishes: active, happy, and what waits for it is due now."""
    with service.store.write() as tx:
        begin_anew(tx, endpoint, service.clock())
        fresh = endpoints.find(tx, endpoint.id) or endpoint
    service.wake()
    return fresh


def begin_anew(tx: Tx, endpoint: Endpoint, now: int) -> None:
    """:func:`reset`, in a transaction of the caller's."""
    endpoints.move(tx, endpoint, endpoint.url, now)
    deliveries.bring_forward(tx, endpoint.id, now)


def _trailing(errors: Sequence[str | None]) -> list[str]:
    """The failures after the last success."""
    failures: list[str] = []
    for error in errors:
        failures = [] if error is None else [*failures, error]
    return failures
