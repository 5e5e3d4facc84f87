"""The runs of a trigger (table ``trigger_runs``): time, cause, outcome and log of each.

Lines of the log are masked already, and sealed. Runs are deleted after 30 days, and beyond the newest 200 of each
trigger. Native triggers run nothing, so they have none.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Literal

import orjson

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.crypto import ordered_id
from webapp.service.components.calls import Observation, Reply
from webapp.service.domain.base import log_retention, token_scopes
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.projects.log_entries import USER_NAME, LogEntry, LogRow, LogSource
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Row, Tx

Cause = Literal["timer", "request", "deploy", "activate", "deactivate", "renew"]
KEPT_PER_TRIGGER = 200
MAX_LINES = 256 * 1024
_LINES = SealedColumn("trigger_runs", "lines_sealed")
SEALED = (_LINES,)


def write(
    tx: Tx, service: Service, trigger: DeployedTrigger, cause: Cause, at: int, reply: Reply, *, emitted: int = 0
) -> None:
    """Store a run, in the transaction that stores its events; ``at`` is when it began."""
    run_id, project_id = ordered_id("tr"), trigger.scene.project_id
    tx.run(
        "INSERT INTO trigger_runs (id, trigger_id, project_id, environment, external_user_id, app, at, cause, ok, "
        "took_ms, emitted, error, lines_sealed) VALUES (:id, :trigger, :project, :environment, :user, :app, :at, "
        ":cause, :ok, :took, :emitted, :error, :lines)",
        {
            "id": run_id,
            "trigger": trigger.id,
            **trigger.scene.params,
            "user": trigger.external_user_id,
            "app": trigger.app,
            "at": at,
            "cause": cause,
            "ok": int(reply.ok),
            "took": reply.took_ms,
            "emitted": emitted,
            "error": reply.error.message if reply.error else None,
            "lines": _LINES.seal(service, tx, project_id, run_id, _lines(reply.observations)),
        },
    )


def page(reader: Reader, trigger_id: str, window: cursors.Window) -> cursors.Page[Row]:
    """The runs of a trigger, newest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    mark = cursors.fingerprint("trigger_runs", trigger_id)
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    sql = f"SELECT * FROM trigger_runs WHERE trigger_id = :trigger{plan.conditions} ORDER BY {plan.order} LIMIT :limit"  # noqa: S608
    rows = reader.all(sql, {**plan.params, "trigger": trigger_id, "limit": plan.limit})
    total = reader.one("SELECT COUNT(*) AS n FROM trigger_runs WHERE trigger_id = :id", {"id": trigger_id})
    return cursors.page(rows, window, plan, mark, itemgetter("at", "id"), total["n"] if total else 0)


def to_json(service: Service, row: Row) -> dict[str, Any]:
    """A run in a list, with what it logged."""
    lines = _LINES.open(service, row["project_id"], row["id"], row["lines_sealed"])
    facts = {name: row[name] for name in ("id", "at", "cause", "took_ms", "emitted", "error")}
    return {**facts, "ok": bool(row["ok"]), "os": orjson.loads(lines)}


def purge(service: Service) -> int:
    """Delete runs that are too old or too many; return their number."""
    with service.store.write() as tx:
        gone = tx.run("DELETE FROM trigger_runs WHERE at < :limit", {"limit": service.clock() - log_retention.KEPT})
    crowded = "SELECT trigger_id FROM trigger_runs GROUP BY trigger_id HAVING COUNT(*) > :kept"
    for (trigger_id,) in service.store.tuples(crowded, {"kept": KEPT_PER_TRIGGER}):
        with service.store.write() as tx:
            gone += tx.run(
                "DELETE FROM trigger_runs WHERE trigger_id = :id AND id NOT IN (SELECT id FROM trigger_runs "
                "WHERE trigger_id = :id ORDER BY at DESC, id DESC LIMIT :kept)",
                {"id": trigger_id, "kept": KEPT_PER_TRIGGER},
            )
    return gone


def _lines(observations: Sequence[Observation]) -> bytes:
    """The log as JSON: its beginning if it is too long, and its end, which has the error."""
    lines = [observation.to_json() for observation in observations]
    while len(log := orjson.dumps(lines)) > MAX_LINES:
        lines = [*lines[: max(len(lines) // 2 - 1, 0)], lines[-1]] if len(lines) > 1 else []
    return log


def observations(service: Service, trigger_id: str, run_id: str) -> list[dict[str, Any]]:
    """What the run ``run_id`` of a trigger logged. Raises :class:`NotFound`."""
    row = service.store.one(
        "SELECT project_id, lines_sealed FROM trigger_runs WHERE id = :id AND trigger_id = :trigger",
        {"id": run_id, "trigger": trigger_id},
    )
    if row is None:
        raise NotFound("There is no such run.")
    lines: list[dict[str, Any]] = orjson.loads(_LINES.open(service, row["project_id"], run_id, row["lines_sealed"]))
    return lines


def _log_entry(row: LogRow, _now: int) -> LogEntry:
    text = row.text or f"{row.number} {'event' if row.number == 1 else 'events'}"
    entry = row.entry("run", "succeeded" if row.ok else "failed", row.state)
    return replace(entry, text=text, emitted=row.number)


_NAME, _KEY = (
    f"(SELECT t.{column} FROM deployed_triggers t WHERE t.id = trigger_runs.trigger_id)"  # noqa: S608
    for column in ("name", "component_key")
)
LOG = LogSource(
    "run",
    "tr",
    (token_scopes.DEPLOYED_TRIGGERS_READ,),
    "trigger_runs",
    {
        "at": "at",
        "id": "id",
        "state": "cause",
        "ok": "ok",
        "number": "emitted",
        "title": f"COALESCE(NULLIF({_NAME}, ''), {_KEY})",
        "text": "error",
        "took_ms": "took_ms",
        "app": "app",
        "external_user_id": USER_NAME.format(table="trigger_runs"),
        "component_key": _KEY,
        "trigger_id": "trigger_id",
    },
    _log_entry,
    {"succeeded": ("ok = 1",), "failed": ("ok = 0",)},
    apart=("ok = 1", "ok = 0"),
    subjects=("trigger_id",),
    together=("trigger_id",),
    usually="(ok = 0 OR emitted > 0 OR cause <> 'timer')",
)
"""The runs as the logs show them; polls that found nothing are quiet."""
