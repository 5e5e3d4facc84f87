"""Changes of deployed triggers that are under way at their providers (table ``trigger_plans``).

A pending change is stored before the first hook of a change, a deletion or the disconnection of an account, and deleted
by the transaction that completes it. If its trigger is not locked, its process died half-way, so the provider's state
and the trigger's may differ: :func:`deployments.recover` reconciles them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

Kind = Literal["change", "delete", "farewell"]  # farewell: its account is disconnected
Phase = Literal["unsubscribe", "subscribe", "restore"]


@dataclass(frozen=True, slots=True)
class PendingChange:
    """An incomplete change. ``phase`` is the last step that was begun: it may be complete, partial, or not begun.

    ``wish_sealed`` are the fields to change, as JSON.
    """

    trigger_id: str
    project_id: str
    kind: Kind
    phase: Phase
    wish_sealed: bytes | None = field(repr=False)
    began_at: int


SEALED = SealedColumn("trigger_plans", "wish_sealed", key="trigger_id")
_RENAMED = {"given": "configured"}  # in those that an earlier version stored
_PENDING = Table("trigger_plans", PendingChange, key="trigger_id")


def begin(
    service: Service,
    trigger: DeployedTrigger,
    kind: Kind,
    phase: Phase = "unsubscribe",
    change: Mapping[str, Any] | None = None,
) -> None:
    """Store what is about to be done to ``trigger``, which the caller has locked; ``change`` has the changed fields."""
    project_id = trigger.scene.project_id
    with service.store.write() as tx:
        plain = None if change is None else orjson.dumps(dict(change))
        sealed = None if plain is None else SEALED.seal(service, tx, project_id, trigger.id, plain)
        _PENDING.upsert(tx, PendingChange(trigger.id, project_id, kind, phase, sealed, service.clock()), keep=())


def set_phase(service: Service, trigger: DeployedTrigger, phase: Phase) -> None:
    """Record that ``phase`` of the change begins."""
    with service.store.write() as tx:
        _PENDING.update(tx, trigger.id, phase=phase)


def end(tx: Tx, trigger_id: str) -> None:
    """Delete the pending change of a trigger, once it was completed or undone."""
    _PENDING.delete(tx, trigger_id)


def find(reader: Reader, trigger_id: str) -> PendingChange | None:
    """The incomplete change of a trigger, if any."""
    return _PENDING.get(reader, trigger_id)


def change_of(service: Service, pending: PendingChange) -> dict[str, Any]:
    """The fields of the change, by name."""
    if pending.wish_sealed is None:
        return {}
    fields = orjson.loads(SEALED.open(service, pending.project_id, pending.trigger_id, pending.wish_sealed))
    return {_RENAMED.get(name, name): value for name, value in fields.items()}
