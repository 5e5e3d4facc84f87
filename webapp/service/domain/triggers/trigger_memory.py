"""The state of a trigger (table ``trigger_memory``), which its author reads and changes as ``ctx.db``.

It is sealed, since a trigger keeps the secret of its subscription there, and has at most 256 KiB of JSON.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx

MAX_STATE = 256 * 1024
_STATE = SealedColumn("trigger_memory", "state_sealed", key="trigger_id")
SEALED = (_STATE,)


class StateTooLarge(Exception):
    """The trigger's state is larger than 256 KiB. Its author should store less in ctx.db."""


def read(service: Service, trigger: DeployedTrigger, reader: Reader | None = None) -> dict[str, Any]:
    """The state of ``trigger``; ``reader`` is the caller's transaction."""
    sql = "SELECT state_sealed FROM trigger_memory WHERE trigger_id = :id"
    row = (reader or service.store).one(sql, {"id": trigger.id})
    if row is None:
        return {}
    state: dict[str, Any] = orjson.loads(
        _STATE.open(service, trigger.scene.project_id, trigger.id, row["state_sealed"])
    )
    return state


def update(tx: Tx, service: Service, trigger: DeployedTrigger, changes: Mapping[str, Any]) -> None:
    """Merge ``changes`` into the state by key. Raises :class:`StateTooLarge`."""
    if not changes:
        return
    whole = orjson.dumps({**read(service, trigger, tx), **changes})
    if len(whole) > MAX_STATE:
        raise StateTooLarge(StateTooLarge.__doc__)
    project_id = trigger.scene.project_id
    tx.run(
        "INSERT INTO trigger_memory (trigger_id, project_id, state_sealed) VALUES (:id, :project, :state) "
        "ON CONFLICT (trigger_id) DO UPDATE SET state_sealed = excluded.state_sealed",
        {
            "id": trigger.id,
            "project": project_id,
            "state": _STATE.seal(service, tx, project_id, trigger.id, whole),
        },
    )
