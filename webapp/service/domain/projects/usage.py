"""Hourly usage (table ``usage``): actions run, requests proxied, events delivered; one credit each.

Uses are counted in the transaction to which they belong. Without one, as for a proxied request, they are collected in
memory and written together a moment later; a process that is killed loses only those.
"""

import operator
from collections.abc import Mapping
from typing import Any, Literal

from webapp.kit.clock import DAY, HOUR, SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.base.write_buffer import WriteBuffer
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx

KEPT = 400 * DAY
"""How long the counts of what a project and its apps used are kept, to compare a month with that of the year before."""
Kind = Literal["run", "proxy", "event"]
KINDS: dict[Kind, str] = {
    "run": "action_run_credits_used",
    "proxy": "proxy_credits_used",
    "event": "source_emit_credits_used",
}
Key = tuple[Scene, int, Kind]
_ADD = (
    "INSERT INTO usage (project_id, environment, hour, kind, n) VALUES (:project, :environment, :hour, :kind, :by) "
    "ON CONFLICT (project_id, environment, hour, kind) DO UPDATE SET n = usage.n + excluded.n"
)


def add(tx: Tx, scene: Scene, kind: Kind, at: int, by: int = 1) -> None:
    """Count ``by`` uses at the time ``at`` (epoch milliseconds), in the transaction that makes them true."""
    tx.add(_ADD, {**scene.params, "hour": at // HOUR * HOUR, "kind": kind}, by)


def note(service: Service, scene: Scene, kind: Kind) -> None:
    """Count one use where no transaction is open; it is written a moment later, with others."""
    _NOTED.note(service, (scene, service.clock() // HOUR * HOUR, kind), 1)


def flush(service: Service) -> None:
    """Write the collected uses. Uses of a deleted project are dropped."""
    _NOTED.flush(service)


def hours(reader: Reader, since: int, until: int, *, project_id: str | None = None) -> list[dict[str, Any]]:
    """Every hour with uses that overlaps the time from ``since`` to ``until`` (epoch milliseconds), oldest first."""
    where, params = "hour >= :since AND hour < :until", dict[str, Any](since=since // HOUR * HOUR, until=until)
    if project_id is not None:
        where, params["project"] = f"{where} AND project_id = :project", project_id
    rows = reader.all(
        f"SELECT hour, kind, SUM(n) AS n FROM usage WHERE {where} GROUP BY hour, kind ORDER BY hour",  # noqa: S608
        params,
    )
    records: dict[int, dict[str, Any]] = {}
    for row in rows:
        hour, n = row["hour"], int(row["n"])
        record = records.setdefault(hour, _record(hour))
        record[KINDS[row["kind"]]] += n
        record["credits_used"] += n
    return list(records.values())


def has_any(reader: Reader, project_id: str, kind: Kind) -> bool:
    """Whether anything of ``kind`` is counted in the project, in either environment."""
    sql = "SELECT 1 FROM usage WHERE project_id = :project AND kind = :kind LIMIT 1"
    return reader.one(sql, {"project": project_id, "kind": kind}) is not None


def purge(service: Service) -> int:
    """Forget hours of more than 400 days ago; how many rows there were."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM usage WHERE hour < :limit", {"limit": service.clock() - KEPT})


def _record(hour: int) -> dict[str, Any]:
    ends = {"usage_start_ts": hour // SECOND, "usage_end_ts": (hour + HOUR) // SECOND}
    return {"credits_used": 0, **ends, **dict.fromkeys(KINDS.values(), 0)}


def _write(service: Service, counts: Mapping[Key, int]) -> None:
    with service.store.write() as tx:
        known = {row["id"] for row in tx.all("SELECT id FROM projects")}
        for (scene, hour, kind), n in counts.items():
            if scene.project_id in known:
                add(tx, scene, kind, hour, n)


_NOTED = WriteBuffer[Key, int](_write, operator.add)
