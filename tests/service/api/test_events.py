"""The events of a deployed trigger over the API."""

from typing import Any

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.deployed import emit, plant_trigger
from tests.service.api.conftest import World
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


@pytest.fixture
def posting(world: World, post: DeliveryHarness) -> DeliveryHarness:
    """The delivery side of the world's own scene."""
    post.scene = world.scene
    return post


@pytest.fixture
def trigger(world: World, posting: DeliveryHarness) -> DeployedTrigger:
    return plant_trigger(world.service, world.scene, [posting.receiver.url("/hook")])


def ask(world: World, trigger: DeployedTrigger, rest: str, method: str = "GET", **options: Any) -> Any:
    found = world.call(method, f"P/deployed-triggers/{trigger.id}/{rest}", world.frontend(), **options)
    assert found.status_code == 200, found.data
    return found.get_json()


def test_events_newest_first(world: World, trigger: DeployedTrigger) -> None:
    made = emit(world.service, trigger, *({"n": n} for n in range(3)))
    found = ask(world, trigger, "events?n=2")["data"]
    assert [one["e"] for one in found] == [{"n": 2}, {"n": 1}]
    assert found[0] == {"e": {"n": 2}, "k": "emit", "ts": world.clock(), "id": made[2].id, "sum": "Thing 2"}
    assert [one["id"] for one in ask(world, trigger, f"events?after={found[1]['id']}")["data"]] == [made[0].id]
    assert [one["id"] for one in ask(world, trigger, f"events?event_id={made[1].id}")["data"]] == [made[1].id]
    assert ask(world, trigger, "events?n=2&extensions=true")["page_info"] == {"count": 2, "total_count": 3}
    for bad in ("0", "-1", "x"):
        assert world.get(f"P/deployed-triggers/{trigger.id}/events?n={bad}", world.frontend()).status_code == 400
