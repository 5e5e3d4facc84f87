"""What a trigger remembers (table ``trigger_memory``), and which emitted ids it has seen (``trigger_seen``).

What was remembered is sealed, since a trigger keeps the secret of its subscription there; at most 256 KiB of JSON.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from webapp.service.catalog.components import Dedupe
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.triggers import lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Tx

MAX_STATE = 256 * 1024
SEEN_KEPT = 10_000
SEALED = SealedColumn("trigger_memory", "state_sealed", key="trigger_id")


class StateTooLarge(Exception):
    """The trigger wants to remember more than 256 KiB. Its author should keep less in ctx.db."""


def read(service: Service, trigger: DeployedTrigger) -> dict[str, Any]:
    """What ``trigger`` remembers."""
    return _state(service, service.store, trigger)


def merge(tx: Tx, service: Service, trigger: DeployedTrigger, changes: Mapping[str, Any]) -> None:
    """Remember ``changes`` over what is remembered, key by key. Raises :class:`StateTooLarge`."""
    if not changes:
        return
    whole = orjson.dumps({**_state(service, tx, trigger), **changes})
    if len(whole) > MAX_STATE:
        raise StateTooLarge(StateTooLarge.__doc__)
    project_id = trigger.scene.project_id
    tx.run(
        "INSERT INTO trigger_memory (trigger_id, project_id, state_sealed) VALUES (:id, :project, :state) "
        "ON CONFLICT (trigger_id) DO UPDATE SET state_sealed = excluded.state_sealed",
        {
            "id": trigger.id,
            "project": project_id,
            "state": SEALED.seal(service, tx, project_id, trigger.id, whole),
        },
    )


def new_events(
    tx: Tx, trigger: DeployedTrigger, dedupe: Dedupe | None, emitted: Sequence[Emitted], now: int
) -> list[Emitted]:
    """Those of ``emitted`` that count, once each; what they leave behind is written down in ``tx``.

    ``unique`` ids count once; ``greatest`` those above the greatest of all runs before, so that a run may emit the
    newest first; ``last`` those other than the one before. An event without an id always counts.
    """
    if dedupe == "unique":
        return [event for event in emitted if event.id is None or _first_time(tx, trigger.id, event.id, now)]
    if dedupe is None or not emitted:
        return list(emitted)
    row = tx.one("SELECT mark FROM deployed_triggers WHERE id = :id", {"id": trigger.id})
    mark = row["mark"] if row else None
    new, after = (_greatest if dedupe == "greatest" else _changed)(mark, emitted)
    if after != mark:
        lifecycle.set_mark(tx, trigger, after)
    return new


def thin_out(service: Service) -> int:
    """Forget all but the newest :data:`SEEN_KEPT` ids of each trigger; how many there were."""
    crowded = service.store.all(
        "SELECT trigger_id FROM trigger_seen GROUP BY trigger_id HAVING COUNT(*) > :kept", {"kept": SEEN_KEPT}
    )
    gone = 0
    for row in crowded:
        with service.store.write() as tx:
            gone += tx.run(
                "DELETE FROM trigger_seen WHERE trigger_id = :id AND emitted_id NOT IN (SELECT emitted_id FROM "
                "trigger_seen WHERE trigger_id = :id ORDER BY at DESC, emitted_id DESC LIMIT :kept)",
                {"id": row["trigger_id"], "kept": SEEN_KEPT},
            )
    return gone


def _state(service: Service, reader: Reader, trigger: DeployedTrigger) -> dict[str, Any]:
    row = reader.one("SELECT state_sealed FROM trigger_memory WHERE trigger_id = :id", {"id": trigger.id})
    if row is None:
        return {}
    state: dict[str, Any] = orjson.loads(
        SEALED.open(service, trigger.scene.project_id, trigger.id, row["state_sealed"])
    )
    return state


def _first_time(tx: Tx, trigger_id: str, emitted_id: str, now: int) -> bool:
    """Whether the id was not seen yet. Seeing it again keeps it young, so that it is not forgotten while it comes."""
    values = {"id": trigger_id, "emitted": emitted_id, "now": now}
    added = tx.run(
        "INSERT INTO trigger_seen (trigger_id, emitted_id, at) VALUES (:id, :emitted, :now) ON CONFLICT DO NOTHING",
        values,
    )
    if not added:
        tx.run("UPDATE trigger_seen SET at = :now WHERE trigger_id = :id AND emitted_id = :emitted", values)
    return bool(added)


def _greatest(mark: str | None, emitted: Sequence[Emitted]) -> tuple[list[Emitted], str | None]:
    new, ids, after = list[Emitted](), set[str](), mark
    for event in emitted:
        if event.id is not None:
            if event.id in ids or (mark is not None and not _is_greater(event.id, mark)):
                continue
            ids.add(event.id)
            after = event.id if after is None or _is_greater(event.id, after) else after
        new.append(event)
    return new, after


def _changed(mark: str | None, emitted: Sequence[Emitted]) -> tuple[list[Emitted], str | None]:
    new = list[Emitted]()
    for event in emitted:
        if event.id is not None:
            if event.id == mark:
                continue
            mark = event.id
        new.append(event)
    return new, mark


def _is_greater(left: str, right: str) -> bool:
    """Whether ``left`` is the greater: as numbers where both are, else as text."""
    try:
        return float(left) > float(right) if "." in left + right else int(left) > int(right)
    except ValueError:
        return left > right
