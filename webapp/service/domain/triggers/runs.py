"""What the runs of a trigger store: the emitted ids it has seen (``trigger_seen``), and the log (``trigger_runs``) with
time, cause, outcome and output of each run.

Lines of the log are masked already, and sealed. Runs are deleted after 30 days, and beyond the newest 200 of each
trigger. Native triggers run nothing, so they have neither.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Literal

import orjson

from webapp.kit import cursors
from webapp.kit.clock import DAY
from webapp.kit.crypto import ordered_id
from webapp.service.catalog.components import Dedupe
from webapp.service.components.calls import Emitted, Observation, Reply
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.triggers import deployed_triggers, lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx

Cause = Literal["timer", "request", "deploy", "activate", "deactivate", "renew"]
KEPT = 30 * DAY
KEPT_PER_TRIGGER = 200
MAX_LINES = 256 * 1024
SEEN_KEPT = 10_000
_LINES = SealedColumn("trigger_runs", "lines_sealed")
SEALED = (_LINES,)


def new_events(
    tx: Tx, trigger: DeployedTrigger, dedupe: Dedupe | None, emitted: Sequence[Emitted], now: int
) -> list[Emitted]:
    """The new events among ``emitted``, after deduplication; ``tx`` stores what the next run compares with.

    ``unique`` ids count once; ``greatest`` those above the greatest of all runs before, so that a run may emit the
    newest first; ``last`` those other than the one before. An event without an id always counts.
    """
    if dedupe == "unique":
        return [event for event in emitted if event.id is None or _first_time(tx, trigger.id, event.id, now)]
    if dedupe is None or not emitted:
        return list(emitted)
    current = deployed_triggers.find(tx, trigger.id)
    mark = current.mark if current else None
    new, after = (_greatest if dedupe == "greatest" else _changed)(mark, emitted)
    if after != mark:
        lifecycle.set_mark(tx, trigger, after)
    return new


def purge_seen(service: Service) -> int:
    """Forget all but the newest :data:`SEEN_KEPT` ids of each trigger; how many there were."""
    return _thin_out(
        service,
        "SELECT trigger_id FROM trigger_seen GROUP BY trigger_id HAVING COUNT(*) > :kept",
        "DELETE FROM trigger_seen WHERE trigger_id = :id AND emitted_id NOT IN (SELECT emitted_id FROM "
        "trigger_seen WHERE trigger_id = :id ORDER BY at DESC, emitted_id DESC LIMIT :kept)",
        SEEN_KEPT,
    )


def write(
    tx: Tx, service: Service, trigger: DeployedTrigger, cause: Cause, at: int, reply: Reply, *, emitted: int = 0
) -> None:
    """Store a run, in the transaction that stores its events; ``at`` is when it began."""
    run_id, project_id = ordered_id("tr"), trigger.scene.project_id
    tx.run(
        "INSERT INTO trigger_runs (id, trigger_id, project_id, at, cause, ok, took_ms, emitted, error, lines_sealed) "
        "VALUES (:id, :trigger, :project, :at, :cause, :ok, :took, :emitted, :error, :lines)",
        {
            "id": run_id,
            "trigger": trigger.id,
            "project": project_id,
            "at": at,
            "cause": cause,
            "ok": int(reply.ok),
            "took": reply.took_ms,
            "emitted": emitted,
            "error": reply.error.message if reply.error else None,
            "lines": _LINES.seal(service, tx, project_id, run_id, _lines(reply.observations)),
        },
    )


def page(service: Service, trigger: DeployedTrigger, window: cursors.Window) -> cursors.Page[dict[str, Any]]:
    """The runs of ``trigger`` as the API shows them, newest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    mark = cursors.fingerprint("trigger_runs", trigger.id)
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    sql = f"SELECT * FROM trigger_runs WHERE trigger_id = :trigger{plan.conditions} ORDER BY {plan.order} LIMIT :limit"  # noqa: S608
    rows = service.store.all(sql, {**plan.params, "trigger": trigger.id, "limit": plan.limit})
    total = service.store.one("SELECT COUNT(*) AS n FROM trigger_runs WHERE trigger_id = :id", {"id": trigger.id})
    runs = [_to_json(service, row) for row in rows]
    return cursors.page(runs, window, plan, mark, itemgetter("at", "id"), total["n"] if total else 0)


def purge(service: Service) -> int:
    """Forget runs that are too old or too many; how many there were."""
    with service.store.write() as tx:
        gone = tx.run("DELETE FROM trigger_runs WHERE at < :limit", {"limit": service.clock() - KEPT})
    return gone + _thin_out(
        service,
        "SELECT trigger_id FROM trigger_runs GROUP BY trigger_id HAVING COUNT(*) > :kept",
        "DELETE FROM trigger_runs WHERE trigger_id = :id AND id NOT IN (SELECT id FROM trigger_runs "
        "WHERE trigger_id = :id ORDER BY at DESC, id DESC LIMIT :kept)",
        KEPT_PER_TRIGGER,
    )


def _thin_out(service: Service, crowded: str, surplus: str, kept: int) -> int:
    """Delete the ``surplus`` of each trigger that is ``crowded``, one after another; return the number of rows."""
    gone = 0
    for row in service.store.all(crowded, {"kept": kept}):
        with service.store.write() as tx:
            gone += tx.run(surplus, {"id": row["trigger_id"], "kept": kept})
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


def _to_json(service: Service, row: dict[str, Any]) -> dict[str, Any]:
    lines = _LINES.open(service, row["project_id"], row["id"], row["lines_sealed"])
    facts = {name: row[name] for name in ("id", "at", "cause", "took_ms", "emitted", "error")}
    return {**facts, "ok": bool(row["ok"]), "os": orjson.loads(lines)}


def _lines(observations: Sequence[Observation]) -> bytes:
    """The log as JSON: its beginning if it is too long, and its end, which has the error."""
    lines = [observation.to_json() for observation in observations]
    while len(log := orjson.dumps(lines)) > MAX_LINES:
        lines = [*lines[: max(len(lines) // 2 - 1, 0)], lines[-1]] if len(lines) > 1 else []
    return log
