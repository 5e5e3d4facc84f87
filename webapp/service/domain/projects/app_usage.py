"""What happened by app and day (table ``app_usage``): runs of actions, events of triggers, and what of both failed.

Each is counted in the transaction that makes it true, so that the logs need not be read for a chart. A day is one of
UTC. A failed run counts on the day on which the run began, a failed delivery on the day of its last attempt. What
belongs to no app, such as the events of a schedule, has the app "".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webapp.kit.clock import DAY, iso
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import usage
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx

Kind = Literal["run", "failed_run", "event", "failed_delivery"]
KINDS: dict[Kind, str] = {
    "run": "runs",
    "failed_run": "failed_runs",
    "event": "events",
    "failed_delivery": "failed_deliveries",
}
_ADD = (
    "INSERT INTO app_usage (project_id, environment, day, app, kind, n) "
    "VALUES (:project, :environment, :day, :app, :kind, :by) "
    "ON CONFLICT (project_id, environment, day, app, kind) DO UPDATE SET n = app_usage.n + excluded.n"
)


@dataclass(frozen=True, slots=True)
class AppDay:
    """The counts of one app on the day that begins at ``day`` (epoch milliseconds), by kind; those of no app as ""."""

    day: int
    app: str
    counts: dict[Kind, int]

    def to_json(self) -> dict[str, Any]:
        """The counts as the API shows them."""
        counts = {name: self.counts.get(kind, 0) for kind, name in KINDS.items()}
        return {"day": iso(self.day)[:10], "app": self.app or None, **counts}


def add(tx: Tx, scene: Scene, app: str | None, kind: Kind, at: int, by: int = 1) -> None:
    """Count ``by`` of ``kind`` at the time ``at`` (epoch milliseconds), in the transaction that makes them true."""
    tx.add(_ADD, {**scene.params, "day": at // DAY * DAY, "app": app or "", "kind": kind}, by)


def days(reader: Reader, scene: Scene, since: int, until: int, *, app: str | None = None) -> Sequence[AppDay]:
    """Every app and day of ``scene`` with counts, from the day of ``since`` to that of ``until`` (epoch milliseconds),
    oldest first; only those of ``app`` if one is given."""
    where, params = "", {**scene.params, "since": since // DAY * DAY, "until": until}
    if app is not None:
        where, params["app"] = " AND app = :app", app
    of_scene = "project_id = :project AND environment = :environment AND day >= :since AND day <= :until"
    sql = f"SELECT day, app, kind, n FROM app_usage WHERE {of_scene}{where} ORDER BY day, app"  # noqa: S608 - constants
    rows = reader.tuples(sql, params)
    records: dict[tuple[int, str], AppDay] = {}
    for day, slug, kind, n in rows:
        records.setdefault((day, slug), AppDay(day, slug, {})).counts[kind] = int(n)
    return list(records.values())


def purge(service: Service) -> int:
    """Forget days of more than 400 days ago; how many rows there were."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM app_usage WHERE day < :limit", {"limit": service.clock() - usage.KEPT})
