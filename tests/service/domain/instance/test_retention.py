"""How long events are kept: by age and by number of each trigger, and never while they wait to be delivered."""

from dataclasses import replace

import pytest

from tests.fakes.deployed import emit, plant_trigger
from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events
from webapp.service.domain.instance import retention
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def bodies(service: Service, trigger: DeployedTrigger) -> list[bytes | None]:
    return [event.body for event in events.page_of_trigger(service.store, trigger.id)]


def test_events_go_when_they_are_too_old(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = plant_trigger(service, scene)
    emit(service, trigger, "old")
    clock.advance(service.settings.event_days * DAY)
    emit(service, trigger, "new")
    assert retention.purge(service) == 0
    clock.advance(1)
    assert retention.purge(service) == 1
    assert bodies(service, trigger) == [b'"new"']


def test_each_trigger_keeps_its_newest(service: Service, scene: Scene, clock: FakeClock) -> None:
    few = replace(service, settings=replace(service.settings, events_kept=2))
    crowded, other = plant_trigger(service, scene), plant_trigger(service, scene)
    emit(few, other, "other")
    for number in range(4):
        clock.advance(1)
        emit(few, crowded, number)
    assert retention.purge(few) == 2
    assert (bodies(few, crowded), bodies(few, other)) == ([b"3", b"2"], [b'"other"'])
    assert retention.purge(few) == 0


def test_what_waits_is_never_forgotten(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = plant_trigger(service, scene, ["https://hooks.example/a"])
    emit(service, trigger, "waits")
    clock.advance(365 * DAY)
    assert retention.purge(service) == 0
    assert bodies(service, trigger) == [b'"waits"']


def test_many_go_a_few_at_a_time(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    trigger = plant_trigger(service, scene)
    emit(service, trigger, *range(5))
    clock.advance(365 * DAY)
    assert retention.purge(service) == 5
    assert bodies(service, trigger) == []
