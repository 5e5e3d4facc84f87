"""The runs of a trigger: sealed, newest first, the beginning and the end of a long log, deleted in time."""

from typing import Any

import pytest

from tests.fakes.deployed import plant_trigger
from webapp.kit import cursors
from webapp.kit.clock import FakeClock
from webapp.service.components.calls import ErrorInfo, Observation, Reply
from webapp.service.domain.base import log_retention
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import runs
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

FAILED = ErrorInfo("exception", "ComponentError", "The app does not answer.")


def write(service: Service, trigger: DeployedTrigger, *lines: str, error: ErrorInfo | None = None) -> None:
    logged = tuple(Observation("log", 1, line) for line in lines)
    with service.store.write() as tx:
        runs.write(tx, service, trigger, "timer", service.clock(), Reply(None, observations=logged, error=error))


def listed(service: Service, trigger: DeployedTrigger) -> list[dict[str, Any]]:
    page = runs.page(service.store, trigger.id, cursors.Window(50))
    assert page.total_count == len(page.items)
    return [runs.to_json(service, row) for row in page.items]


def test_runs_are_sealed_and_newest_first(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = plant_trigger(service, scene)
    write(service, trigger, "canary line")
    clock.advance(1)
    write(service, trigger, error=FAILED)
    newest, oldest = listed(service, trigger)
    assert (newest["ok"], newest["error"], newest["cause"]) == (False, "The app does not answer.", "timer")
    assert (oldest["ok"], [line["msg"] for line in oldest["os"]]) == (True, ["canary line"])
    assert "canary" not in str(service.store.all("SELECT * FROM trigger_runs"))
    assert listed(service, plant_trigger(service, scene)) == []


def test_a_long_log_keeps_its_beginning_and_its_end(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MAX_LINES", 500)
    trigger = plant_trigger(service, scene)
    write(service, trigger, *(f"line {number}" for number in range(100)))
    (run,) = listed(service, trigger)
    kept = [line["msg"] for line in run["os"]]
    assert (kept[0], kept[-1]) == ("line 0", "line 99")
    assert 2 <= len(kept) < 20


def test_old_runs_and_those_beyond_the_newest_are_forgotten(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "KEPT_PER_TRIGGER", 2)
    trigger, other = plant_trigger(service, scene), plant_trigger(service, scene)
    write(service, other, "other")
    for number in range(3):
        clock.advance(1)
        write(service, trigger, f"{number}")
    assert runs.purge(service) == 1
    assert [run["os"][0]["msg"] for run in listed(service, trigger)] == ["2", "1"]
    clock.advance(log_retention.KEPT)
    assert runs.purge(service) == 2  # the newest is exactly as old as may be
    clock.advance(1)
    assert (runs.purge(service), listed(service, trigger), listed(service, other)) == (1, [], [])
