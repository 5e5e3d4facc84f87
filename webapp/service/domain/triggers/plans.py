"""Plans: changes of a deployed trigger that are under way at its provider (table ``trigger_plans``).

A plan is written before the first hook of a change, a deletion or the disconnection of its account ("farewell"), and
deleted by the transaction that completes it. A plan whose trigger is not locked belongs to a process that died
half-way, so the provider's state and the trigger's may differ: :func:`deployments.settle` reconciles them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

Kind = Literal["change", "delete", "farewell"]
Phase = Literal["unsubscribe", "subscribe", "restore"]


@dataclass(frozen=True, slots=True)
class Plan:
    """An incomplete change. ``phase`` is the last step that was begun: it may be complete, partial, or not begun."""

    trigger_id: str
    project_id: str
    kind: Kind
    phase: Phase
    wish_sealed: bytes | None = field(repr=False)
    began_at: int


SEALED = SealedColumn("trigger_plans", "wish_sealed", key="trigger_id")
_RENAMED = {"given": "configured"}  # in plans that an earlier version began
_PLANS = Table("trigger_plans", Plan, key="trigger_id")


def begin(
    service: Service,
    trigger: DeployedTrigger,
    kind: Kind,
    phase: Phase = "unsubscribe",
    change: Mapping[str, Any] | None = None,
) -> None:
    """Store what is about to be done to ``trigger``, which the caller holds; ``change`` has the fields to change."""
    project_id = trigger.scene.project_id
    with service.store.write() as tx:
        plain = None if change is None else orjson.dumps(dict(change))
        sealed = None if plain is None else SEALED.seal(service, tx, project_id, trigger.id, plain)
        _PLANS.upsert(tx, Plan(trigger.id, project_id, kind, phase, sealed, service.clock()), keep=())


def set_phase(service: Service, trigger: DeployedTrigger, phase: Phase) -> None:
    """Record that ``phase`` of the plan begins."""
    with service.store.write() as tx:
        _PLANS.update(tx, trigger.id, phase=phase)


def end(tx: Tx, trigger_id: str) -> None:
    """Delete the plan of a trigger, which was completed or undone."""
    _PLANS.delete(tx, trigger_id)


def find(reader: Reader, trigger_id: str) -> Plan | None:
    """The incomplete change of a trigger, if any."""
    return _PLANS.get(reader, trigger_id)


def change_of(service: Service, plan: Plan) -> dict[str, Any]:
    """The fields of the change, by name."""
    if plan.wish_sealed is None:
        return {}
    fields = orjson.loads(SEALED.open(service, plan.project_id, plan.trigger_id, plan.wish_sealed))
    return {_RENAMED.get(name, name): value for name, value in fields.items()}
