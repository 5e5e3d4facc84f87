"""The history of runs (table ``runs``): the component, the user, the values and the result of each.

A run is stored before it begins, with the generation that runs it, so that one that a crash interrupts is shown as
*unknown* rather than missing. Values and results are sealed; the values of secret props are not stored. Runs are
deleted after 30 days, and beyond the newest 500 of each external user. Its files are left to :mod:`.run_files`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import orjson

from webapp import audit
from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.clock import HOUR, MINUTE, iso
from webapp.kit.crypto import new_id
from webapp.service.components.masking import Mask
from webapp.service.domain.base import log_retention, token_scopes
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.projects import app_usage, external_users, usage
from webapp.service.domain.projects.log_entries import LogEntry, LogRow, LogSource, Status
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx
from webapp.store.table import Table, indexed_condition

KEPT_PER_USER = 500
MAX_OUTPUT = 256 * 1024
LONGEST = 5 * MINUTE  # no run takes longer: one that began earlier has ended, and its end could not be stored
CUT_OFF = (
    "Patchbay was stopped in the middle of this run, so nobody can tell what it did. Look whether it did its work "
    "before you run it again."
)
_NOTHING: Mapping[str, Any] = {"exports": None, "os": [], "ret": None}


@dataclass(frozen=True, slots=True)
class Run:
    """One run as lists show it. ``error`` is why it failed, in one sentence. ``ok`` is true of what has succeeded.
    ``agent`` is the name of the agent that called it, if one did."""

    external_id: str
    component_id: str
    component_key: str
    component_version: str
    app: str | None
    started_at: int
    took_ms: int = 0
    ok: bool = False
    summary: str | None = None
    error: str | None = None
    id: str = field(default_factory=lambda: new_id("run"))
    state: Literal["running", "ended", "unknown"] = "running"
    agent: str | None = None

    @property
    def status(self) -> str:
        """``running``, ``succeeded``, ``failed``, or ``unknown`` if it was interrupted."""
        return ("succeeded" if self.ok else "failed") if self.state == "ended" else self.state

    def to_json(self) -> dict[str, Any]:
        """The run as the API shows it."""
        return {
            "id": self.id,
            "external_user_id": self.external_id,
            "component_id": self.component_id,
            "component_key": self.component_key,
            "component_version": self.component_version,
            "app": self.app,
            "started_at": iso(self.started_at),
            "took_ms": self.took_ms,
            "status": self.status,
            "ok": self.ok,
            "summary": self.summary,
            "error": self.error,
            "agent": self.agent,
        }


_INPUTS, _OUTPUTS = SealedColumn("runs", "inputs_sealed"), SealedColumn("runs", "outputs_sealed")
SEALED = (_INPUTS, _OUTPUTS)
_OF_USER = "project_id = :project_id AND environment = :environment AND external_id = :external_id"
_RUNS = Table(
    "runs",
    Run,
    write_only=("project_id", "environment", "external_user_id", "holder", "inputs_sealed", "outputs_sealed"),
)


@dataclass(frozen=True, slots=True)
class Filter:
    """The filters of a list of runs. ``component`` is a key or an ``sc_…``; ``by_agents``: only those of agents."""

    external_id: str | None = None
    component: str | None = None
    app: str | None = None
    ok: bool | None = None
    by_agents: bool = False


def begin(service: Service, scene: Scene, run: Run, inputs: Mapping[str, Any]) -> None:
    """Write down that ``run`` begins, and with what."""
    with service.store.write() as tx:
        user = external_users.find(tx, scene, run.external_id)
        _RUNS.insert(
            tx,
            run,
            **asdict(scene),
            external_user_id=user.id if user else None,
            inputs_sealed=_INPUTS.seal(service, tx, scene.project_id, run.id, orjson.dumps(inputs)),
            outputs_sealed=_OUTPUTS.seal(service, tx, scene.project_id, run.id, orjson.dumps(_NOTHING)),
            holder=service.generation,
        )
        usage.add(tx, scene, "run", run.started_at)
        app_usage.add(tx, scene, run.app, "run", run.started_at)
        if run.agent is not None:
            _audit(tx, scene, run)


def end(
    service: Service,
    scene: Scene,
    run: Run,
    *,
    outputs: Mapping[str, Any],
    files: Sequence[Mapping[str, str]] = (),
    secrets: Sequence[str] = (),
) -> None:
    """Store the result of ``run``, even if it was marked interrupted. ``secrets`` are texts to mask in ``outputs``.

    ``files`` are those that it wrote, each with ``name`` and ``s3_key``.
    """
    mask = Mask(secrets)
    written = {"files": list(files)} if files else {}
    shown = _fitting(mask(orjson.dumps({**outputs, **written}).decode()).encode(), written)
    with service.store.write() as tx:
        _RUNS.update(
            tx,
            run.id,
            state="ended",
            holder=None,
            took_ms=run.took_ms,
            ok=run.ok,
            summary=mask(run.summary) if run.summary else None,
            error=mask(run.error) if run.error else None,
            outputs_sealed=_OUTPUTS.seal(service, tx, scene.project_id, run.id, shown),
        )
        if not run.ok:
            app_usage.add(tx, scene, run.app, "failed_run", run.started_at)


def take_over(tx: Tx, service: Service, dead: int) -> int:
    """Mark the runs of the generation ``dead`` as unknown; return their number."""
    return _cut_off(tx, "holder = :dead", {"dead": dead})


def page(reader: Reader, scene: Scene, filters: Filter, window: cursors.Window) -> cursors.Page[Run]:
    """Runs of ``scene``, newest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = _where(scene, filters)
    return _RUNS.page(reader, window, where, params, order=("started_at", "id"), descending=True)


def details(service: Service, scene: Scene, run_id: str, *, external_id: str | None = None) -> dict[str, Any]:
    """The run ``run_id`` of ``scene`` (of one user if given) with its values and results. Raises NotFound."""
    params = {"id": run_id, **asdict(scene)}
    where = "id = :id AND project_id = :project_id AND environment = :environment"
    run = _RUNS.one(service.store, where, params)
    row = service.store.one(f"SELECT inputs_sealed, outputs_sealed FROM runs WHERE {where}", params)  # noqa: S608
    if run is None or row is None or external_id not in (None, run.external_id):
        raise NotFound("There is no such run.")
    inputs = orjson.loads(_INPUTS.open(service, scene.project_id, run_id, row["inputs_sealed"]))
    outputs = orjson.loads(_OUTPUTS.open(service, scene.project_id, run_id, row["outputs_sealed"]))
    return {**run.to_json(), **inputs, **outputs}


def exists(reader: Reader, run_id: str) -> bool:
    """Whether that run is stored; it is deleted with its user and its project."""
    return bool(reader.tuples("SELECT 1 FROM runs WHERE id = :id", {"id": run_id}))


def drop_user(tx: Tx, scene: Scene, external_id: str) -> int:
    """Forget the runs of one external user, also those from before they were known; how many there were."""
    return tx.run(f"DELETE FROM runs WHERE {_OF_USER}", {**asdict(scene), "external_id": external_id})  # noqa: S608


def purge(service: Service) -> int:
    """Forget runs that are too old or too many; how many there were. Those that cannot run any more have ended."""
    crowded = service.store.all(
        "SELECT project_id, environment, external_id FROM runs GROUP BY project_id, environment, external_id "
        "HAVING COUNT(*) > :kept",
        {"kept": KEPT_PER_USER},
    )
    now = service.clock()
    with service.store.write() as tx:
        _cut_off(tx, "holder IS NOT NULL AND started_at < :limit", {"limit": now - LONGEST})
        gone = tx.run("DELETE FROM runs WHERE started_at < :limit", {"limit": now - log_retention.KEPT})
        return gone + sum(_thin_out(tx, row) for row in crowded)


def _audit(tx: Tx, scene: Scene, run: Run) -> None:
    """Record that an agent runs it, and for which user."""
    sentence = f"{run.agent} ran {run.component_key}."
    where = {"environment": scene.environment, "external_user_id": run.external_id}
    audit.write(tx, run.started_at, "run", run.id, "started", sentence, project=scene.project_id, **where)


def _cut_off(tx: Tx, where: str, params: Mapping[str, Any]) -> int:
    return tx.run(
        f"UPDATE runs SET state = 'unknown', holder = NULL, error = :error WHERE {where}",  # noqa: S608 - constants
        {**params, "error": CUT_OFF},
    )


def _thin_out(tx: Tx, owner: Row) -> int:
    """Forget all but the newest runs of one external user."""
    return tx.run(
        f"DELETE FROM runs WHERE {_OF_USER} AND id NOT IN "  # noqa: S608 - a constant
        f"(SELECT id FROM runs WHERE {_OF_USER} ORDER BY started_at DESC, id DESC LIMIT :kept)",
        {**owner, "kept": KEPT_PER_USER},
    )


def _where(scene: Scene, filters: Filter) -> tuple[str, dict[str, Any]]:
    component = "component_id" if (filters.component or "").startswith("sc_") else "component_key"
    ok = None if filters.ok is None else int(filters.ok)
    chosen = {"external_id": filters.external_id, component: filters.component, "app": filters.app, "ok": ok}
    where, params = indexed_condition(asdict(scene), chosen)
    return (f"{where} AND agent IS NOT NULL" if filters.by_agents else where), params


def _fitting(outputs: bytes, files: Mapping[str, Any]) -> bytes:
    """``outputs``, or only the ``files`` and a note if they are too large to be stored."""
    if len(outputs) <= MAX_OUTPUT:
        return outputs
    return orjson.dumps({"exports": None, "os": None, "ret": None, "truncated": True, **files})


def recent_action_keys(reader: Reader, scene: Scene, external_id: str) -> list[str]:
    """The keys of the actions that were run for one external user, the one that was run last first."""
    rows = reader.tuples(
        "SELECT component_key, MAX(started_at) AS latest FROM runs WHERE project_id = :project "
        "AND environment = :environment AND external_id = :external_id "
        "GROUP BY component_key ORDER BY latest DESC, component_key",
        {**scene.params, "external_id": external_id},
    )
    return [key for key, _ in rows]


def _log_entry(row: LogRow, _now: int) -> LogEntry:
    status: Status = "waiting" if row.state == "running" else "succeeded" if row.ok else "failed"
    entry = row.entry("agent" if row.agent else "run", status, status if row.state == "ended" else row.state)
    return replace(entry, took_ms=None) if row.state == "running" else entry


_LOGGED = {
    "at": "started_at",
    "id": "id",
    "state": "state",
    "ok": "ok",
    "title": "component_key",
    "text": "COALESCE(error, summary)",
    "took_ms": "took_ms",
    "app": "app",
    "external_user_id": "external_id",
    "agent": "agent",
    "component_key": "component_key",
}
_OUTCOMES: Mapping[Status, tuple[str, ...]] = {
    "succeeded": ("ok = 1",),
    "failed": ("ok = 0 AND state <> 'running'",),
    "waiting": (f"ok = 0 AND state = 'running' AND started_at > CAST(:now AS BIGINT) - {HOUR}",),
}
_FOUND_BY: Mapping[str, Any] = {
    "apart": ("ok = 1", "ok = 0"),
    "user": "external_id",
    "subjects": ("component_key", "component_id"),
}
LOG = LogSource(
    "run", "run", (token_scopes.ACTIONS,), "runs", _LOGGED, _log_entry, _OUTCOMES, only="agent IS NULL", **_FOUND_BY
)
"""The runs as the logs show them, but for those that agents called."""
LOG_OF_AGENTS = LogSource(
    "agent",
    "run",
    (token_scopes.ACTIONS,),
    "runs",
    _LOGGED,
    _log_entry,
    _OUTCOMES,
    only="agent IS NOT NULL",
    **_FOUND_BY,
)
"""The runs that agents called."""
