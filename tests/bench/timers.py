"""How late the last of many timers starts that are due at one moment, run by the real trigger engine."""

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.scene import furnish
from webapp.kit.clock import SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployments
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.worker.trigger_engine import TriggerEngine
from webapp.settings import Settings

TARGET_S = 60.0
AHEAD = 2 * SECOND
EVERY_HOUR = {"cron": {"intervalSeconds": 3600}}


@dataclass(frozen=True, slots=True)
class Timers:
    """``count`` timers, all due at one moment: seconds until half of them, and until all, had started."""

    count: int
    half_s: float
    all_s: float

    def text(self) -> str:
        """The line to print."""
        reached = "yes" if self.all_s < TARGET_S else "no"
        return (
            f"{self.count:,} timers due at one moment: half of them had started after {self.half_s:.2f} s, all after "
            f"{self.all_s:.2f} s, to reach < {TARGET_S:g} s, {reached}"
        )


def measure(like: Path, count: int) -> Timers:
    """Let ``count`` timers be due at once, and wait until the last has recorded its event.

    ``like`` is a data folder whose catalog is taken over. Raises ``RuntimeError``.
    """
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder:
        furnish(Path(folder), like)
        service = open_service(Settings.from_env({}, data=Path(folder), sandbox=False))
        try:
            due = _plant(service, count)
            engine = TriggerEngine(service)
            engine.start()
            try:
                _wait(service, count)
            finally:
                engine.stop(5.0)
            late = sorted(row[0] - due for row in service.store.tuples("SELECT last_run_at FROM deployed_triggers"))
        finally:
            close_service(service)
    return Timers(count, round(late[len(late) // 2] / SECOND, 3), round(late[-1] / SECOND, 3))


def _plant(service: Service, count: int) -> int:
    """A timer as it is deployed, and as many like it as it takes; when all of them are due."""
    scene = Scene(projects.create(service, name="Bench").id, "development")
    component = component_requests.find(service, "schedule-custom-interval", None, "trigger")
    made = deployments.deploy(service, Deployment(scene, "bench", component, EVERY_HOUR))
    with closing(sqlite3.connect(service.settings.data / "patchbay.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        cursor = connection.execute("SELECT * FROM deployed_triggers WHERE id = ?", (made.id,))
        names, model = [column[0] for column in cursor.description], cursor.fetchone()
        marks = ", ".join(f":{name}" for name in names)
        rows = _alike(dict(zip(names, model, strict=True)), count - 1)
        connection.executemany(f"INSERT INTO deployed_triggers ({', '.join(names)}) VALUES ({marks})", rows)
        due = service.clock() + AHEAD
        connection.execute("UPDATE deployed_triggers SET next_run_at = ?", (due,))
        connection.execute("COMMIT")
    return due


def _alike(model: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {**model, "id": f"ti_bench{number:08}", "name_slug": f"bench-{number}"}


def _wait(service: Service, count: int) -> None:
    ends = time.monotonic() + AHEAD / SECOND + 2 * TARGET_S
    while service.store.tuples("SELECT COUNT(*) FROM deployed_triggers WHERE last_run_at IS NOT NULL") != [(count,)]:
        if time.monotonic() > ends:
            raise RuntimeError("the timers did not start")
        time.sleep(0.05)
