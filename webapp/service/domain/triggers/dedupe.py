"""Deduplication: which events that a run emitted are new.

A component chooses by ``dedupe`` how the ids of its events are compared. The ids that a trigger has emitted (table
``trigger_seen``) are kept for ``unique``, and its last or greatest id (``deployed_triggers.mark``) for the others.
"""

from collections.abc import Sequence

from webapp.service.catalog.components import Dedupe
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx

KEPT_PER_TRIGGER = 10_000


def new_events(
    tx: Tx, trigger: DeployedTrigger, kind: Dedupe | None, emitted: Sequence[Emitted], now: int
) -> list[Emitted]:
    """The new events among ``emitted``, after deduplication; ``tx`` stores what the next run compares with.

    ``unique`` ids count once; ``greatest`` those above the greatest of all runs before, so that a run may emit the
    newest first; ``last`` those other than the one before. An event without an id always counts.
    """
    if kind == "unique":
        return [event for event in emitted if event.id is None or _first_time(tx, trigger.id, event.id, now)]
    if kind is None or not emitted:
        return list(emitted)
    current = deployed_triggers.find(tx, trigger.id)
    mark = current.mark if current else None
    new, after = (_greatest if kind == "greatest" else _changed)(mark, emitted)
    if after != mark:
        lifecycle.set_mark(tx, trigger, after)
    return new


def purge(service: Service) -> int:
    """Delete all but the newest :data:`KEPT_PER_TRIGGER` ids of each trigger; return their number."""
    gone = 0
    crowded = "SELECT trigger_id FROM trigger_seen GROUP BY trigger_id HAVING COUNT(*) > :kept"
    for (trigger_id,) in service.store.tuples(crowded, {"kept": KEPT_PER_TRIGGER}):
        with service.store.write() as tx:
            gone += tx.run(
                "DELETE FROM trigger_seen WHERE trigger_id = :id AND emitted_id NOT IN (SELECT emitted_id FROM "
                "trigger_seen WHERE trigger_id = :id ORDER BY at DESC, emitted_id DESC LIMIT :kept)",
                {"id": trigger_id, "kept": KEPT_PER_TRIGGER},
            )
    return gone


def _first_time(tx: Tx, trigger_id: str, emitted_id: str, now: int) -> bool:
    """Whether the id is new. Seeing it again refreshes it, so that it is not deleted while it recurs."""
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
