"""Writing down what a deployed trigger emits, with the deliveries of it, in the caller's transaction.

The caller commits and then calls ``service.wake()``.
"""

from collections.abc import Sequence

from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events
from webapp.service.domain.deliveries.events import Event
from webapp.service.domain.deliveries.received import ReceivedRequest
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx


def record(tx: Tx, service: Service, trigger: DeployedTrigger, emitted: Sequence[Emitted]) -> list[Event]:
    """Write down what ``trigger`` emitted."""
    if not emitted:
        return []
    recorded = events.record(tx, service, trigger, emitted, secret=deployed_triggers.endpoint_key(service, trigger))
    lifecycle.set_last_event(tx, trigger, service.clock())
    return recorded


def record_request(
    tx: Tx, service: Service, trigger: DeployedTrigger, request: ReceivedRequest, summary: str, size: int
) -> None:
    """Write down a request that came for ``trigger``, whose JSON has ``size`` bytes."""
    events.record_request(tx, service, trigger, request, summary, size)
    lifecycle.set_last_event(tx, trigger, service.clock())
