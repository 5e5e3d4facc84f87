"""Writing down what a deployed trigger emits, with the deliveries of it, in the caller's transaction.

The caller commits and then calls ``service.wake()``.
"""

from collections.abc import Sequence

from webapp import quotas
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events, stats
from webapp.service.domain.deliveries.events import Event, ReceivedRequest
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx


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
    """Write down a request that came for ``trigger``, whose JSON has ``size`` bytes. Raises :class:`TooLarge`.

    A shared transaction counts it last: what others write at the same moment does not count yet.
    """
    event = events.record_request(tx, service, trigger, request, summary, size)
    hold_bytes(tx, service, trigger, event.kept if tx.shared else 0)
    lifecycle.set_last_event(tx, trigger, service.clock())


def hold_bytes(reader: Reader, service: Service, trigger: DeployedTrigger, more: int = 0) -> None:
    """Raise :class:`TooLarge` where, with ``more``, more is kept of ``trigger`` and its user's than the quotas allow.

    Only what comes from outside is refused: what a trigger finds by itself is kept.
    """
    of_trigger, of_user = stats.kept_bytes(reader, trigger.id, trigger.external_user_id)
    service.hold(quotas.TRIGGER_MB, of_trigger + more)
    service.hold(quotas.USER_MB, of_user + more)
