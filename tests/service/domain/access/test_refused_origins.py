"""Origins that were refused: the last few of each environment, for whoever builds the page."""

from typing import Any

import pytest

from webapp.kit.clock import DAY, MINUTE
from webapp.service.domain.access import refused_origins
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


@pytest.fixture
def scene(service: Service) -> Scene:
    return Scene(projects.create(service, name="Acme").id, "development")


def origins(service: Service, scene: Scene) -> list[str]:
    return [refused.origin for refused in refused_origins.latest(service, scene)]


def test_the_latest_come_first_and_few_are_kept(service: Service, scene: Scene, clock: Any) -> None:
    for number in range(refused_origins.MAX_KEPT + 5):
        refused_origins.note(service, scene, f"https://{number}.example")
        clock.advance(4 * MINUTE)
    refused_origins.note(service, scene, "https://7.example")
    assert origins(service, scene)[:2] == ["https://7.example", "https://24.example"]
    assert len(origins(service, scene)) == refused_origins.MAX_KEPT
    assert origins(service, Scene(scene.project_id, "production")) == []


def test_they_are_forgotten(service: Service, scene: Scene, clock: Any) -> None:
    refused_origins.note(service, scene, "https://old.example")
    assert refused_origins.purge(service) == 0
    clock.advance(31 * DAY)
    assert origins(service, scene) == []
    refused_origins.note(service, scene, "https://new.example")
    assert refused_origins.purge(service) == 1
    assert origins(service, scene) == ["https://new.example"]


def test_a_repetition_within_a_minute_writes_nothing(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused_origins.note(service, scene, "https://busy.example")
    monkeypatch.setattr(service.store, "write", lambda: pytest.fail("it was written again"))
    refused_origins.note(service, scene, "https://busy.example")
    refused_origins.note(service, scene, f"https://{'long' * 100}.example")


def test_nobody_fills_the_log_with_names(service: Service, scene: Scene, clock: Any) -> None:
    for number in range(30):
        refused_origins.note(service, scene, f"https://{number}.example")
        clock.advance(MINUTE)
    assert origins(service, scene)[0] == "https://19.example"
    refused_origins.note(service, scene, "https://3.example")
    assert origins(service, scene)[0] == "https://3.example"
