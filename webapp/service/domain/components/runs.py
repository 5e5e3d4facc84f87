"""The history of runs (table ``runs``): what was run, for whom, with which values, and what came of it.

Values and results are sealed; the values of secret props are not kept at all. Runs are forgotten after 30 days, and
beyond the newest 500 of each external user.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.clock import DAY, iso
from webapp.kit.ids import new_id
from webapp.service.components.masking import Mask
from webapp.service.domain.base.keyring import KeyGone, Place
from webapp.service.domain.base.sealed import SealedColumn
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users, usage
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx

KEPT = 30 * DAY
KEPT_PER_USER = 500
MAX_OUTPUT = 256 * 1024
_SHOWN = "id, external_id, component_id, component_key, component_version, app, started_at, took_ms, ok, summary, error"


@dataclass(frozen=True, slots=True)
class Run:
    """One run as lists show it. ``error`` is why it failed, in one sentence."""

    external_id: str
    component_id: str
    component_key: str
    component_version: str
    app: str | None
    started_at: int
    took_ms: int
    ok: bool
    summary: str | None
    error: str | None
    id: str = field(default_factory=lambda: new_id("run"))

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
            "ok": self.ok,
            "summary": self.summary,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of runs is limited to. ``component`` is a key or an ``sc_…``."""

    external_id: str | None = None
    component: str | None = None
    app: str | None = None
    ok: bool | None = None


def keep(
    service: Service,
    scene: Scene,
    run: Run,
    *,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    secrets: Sequence[str] = (),
) -> None:
    """Write ``run`` down. ``secrets`` are texts to mask wherever they stand in ``outputs``."""
    mask = Mask(secrets)
    shown = _fitting(mask(orjson.dumps(outputs).decode()).encode())
    with service.store.write() as tx:
        user = external_users.find(tx, scene, run.external_id)
        values = {
            "id": run.id,
            "project": scene.project_id,
            "environment": scene.environment,
            "user": user.id if user else None,
            "external_id": run.external_id,
            "component_id": run.component_id,
            "component_key": run.component_key,
            "component_version": run.component_version,
            "app": run.app,
            "started_at": run.started_at,
            "took_ms": run.took_ms,
            "ok": int(run.ok),
            "summary": mask(run.summary) if run.summary else None,
            "error": mask(run.error) if run.error else None,
            "inputs": service.keys.seal_box(tx, _place("inputs")(scene.project_id, run.id), orjson.dumps(inputs)),
            "outputs": service.keys.seal_box(tx, _place("outputs")(scene.project_id, run.id), shown),
        }
        tx.run(
            "INSERT INTO runs (id, project_id, environment, external_user_id, external_id, component_id, "
            "component_key, component_version, app, started_at, took_ms, ok, summary, error, inputs_sealed, "
            "outputs_sealed) VALUES (:id, :project, :environment, :user, :external_id, :component_id, "
            ":component_key, :component_version, :app, :started_at, :took_ms, :ok, :summary, :error, :inputs, "
            ":outputs)",
            values,
        )
        usage.add(tx, scene, "run", run.started_at)


def page(reader: Reader, scene: Scene, wanted: Filter, window: cursors.Window) -> cursors.Page[Run]:
    """Runs of ``scene``, newest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = _where(scene, wanted)
    mark = cursors.fingerprint("runs", where, params)
    plan = cursors.keyset(window, mark, ("started_at", "id"), descending=True)
    rows = reader.all(
        f"SELECT {_SHOWN} FROM runs WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    total = reader.one(f"SELECT COUNT(*) AS n FROM runs WHERE {where}", params)  # noqa: S608
    found = [_run(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda one: (one.started_at, one.id), total["n"] if total else 0)


def details(service: Service, scene: Scene, run_id: str, *, external_id: str | None = None) -> dict[str, Any]:
    """The run ``run_id`` of ``scene`` (of one user when given) with its values and results. Raises NotFound."""
    row = service.store.one(
        f"SELECT {_SHOWN}, inputs_sealed, outputs_sealed FROM runs "  # noqa: S608 - a constant
        "WHERE id = :id AND project_id = :project AND environment = :environment",
        {"id": run_id, "project": scene.project_id, "environment": scene.environment},
    )
    if row is None or external_id not in (None, row["external_id"]):
        raise NotFound("There is no such run.")
    try:
        opened = [
            orjson.loads(service.keys.open_box(_place(name)(scene.project_id, run_id), row[f"{name}_sealed"]))
            for name in ("inputs", "outputs")
        ]
    except KeyGone:  # sealed anew by a rotation since it was read
        return details(service, scene, run_id, external_id=external_id)
    return {**_run(row).to_json(), **opened[0], **opened[1]}


def drop_user(tx: Tx, scene: Scene, external_id: str) -> int:
    """Forget the runs of one external user, also those from before they were known; how many there were."""
    return tx.run(
        "DELETE FROM runs WHERE project_id = :project AND environment = :environment AND external_id = :external_id",
        {"project": scene.project_id, "environment": scene.environment, "external_id": external_id},
    )


def purge(service: Service) -> int:
    """Forget runs that are too old or too many; how many there were."""
    crowded = service.store.all(
        "SELECT project_id, environment, external_id FROM runs GROUP BY project_id, environment, external_id "
        "HAVING COUNT(*) > :kept",
        {"kept": KEPT_PER_USER},
    )
    with service.store.write() as tx:
        gone = tx.run("DELETE FROM runs WHERE started_at < :limit", {"limit": service.clock() - KEPT})
        return gone + sum(_thin_out(tx, row) for row in crowded)


def _thin_out(tx: Tx, owner: Row) -> int:
    """Forget all but the newest runs of one external user."""
    mine = "project_id = :project_id AND environment = :environment AND external_id = :external_id"
    return tx.run(
        f"DELETE FROM runs WHERE {mine} AND id NOT IN "  # noqa: S608 - a constant
        f"(SELECT id FROM runs WHERE {mine} ORDER BY started_at DESC, id DESC LIMIT :kept)",
        {**owner, "kept": KEPT_PER_USER},
    )


def _where(scene: Scene, wanted: Filter) -> tuple[str, dict[str, Any]]:
    conditions = ["project_id = :project", "environment = :environment"]
    params: dict[str, Any] = {"project": scene.project_id, "environment": scene.environment}
    if wanted.external_id is not None:
        conditions.append("external_id = :external_id")
        params["external_id"] = wanted.external_id
    if wanted.component is not None:
        column = "component_id" if wanted.component.startswith("sc_") else "component_key"
        conditions.append(f"{column} = :component")
        params["component"] = wanted.component
    if wanted.app is not None:
        conditions.append("app = :app")
        params["app"] = wanted.app
    if wanted.ok is not None:
        conditions.append("ok = :ok")
        params["ok"] = int(wanted.ok)
    return " AND ".join(conditions), params


def _run(row: Row) -> Run:
    return Run(
        id=row["id"],
        external_id=row["external_id"],
        component_id=row["component_id"],
        component_key=row["component_key"],
        component_version=row["component_version"],
        app=row["app"],
        started_at=row["started_at"],
        took_ms=row["took_ms"],
        ok=bool(row["ok"]),
        summary=row["summary"],
        error=row["error"],
    )


def _fitting(outputs: bytes) -> bytes:
    """``outputs``, or, where they are too large to be kept, that they were."""
    if len(outputs) <= MAX_OUTPUT:
        return outputs
    return orjson.dumps({"exports": None, "os": None, "ret": None, "truncated": True})


def _place(name: str) -> Callable[[str, str], Place]:
    return lambda project_id, run_id: Place(project_id, "runs", run_id, name)


SEALED = (SealedColumn("runs", "inputs_sealed"), SealedColumn("runs", "outputs_sealed"))
