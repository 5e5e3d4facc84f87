"""What a page shows of triggers in one call: it says the same as the calls that it stands for, of one's own alone."""

import pytest

from tests.fakes.deployed import emit, plant_trigger
from tests.service.api.conftest import World
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

A = "https://a.example/1"


@pytest.fixture
def trigger(world: World) -> DeployedTrigger:
    planted = plant_trigger(world.service, world.scene, [A])
    emit(world.service, planted, {"n": 1})
    return planted


def test_it_says_what_the_calls_say_that_it_stands_for(world: World, trigger: DeployedTrigger) -> None:
    token, base = world.frontend(), f"P/deployed-triggers/{trigger.id}"
    overview = world.get(f"{base}/overview", token).get_json()["data"]
    assert overview["trigger"] == world.get(f"{base}?extensions=true", token).get_json()["data"]
    assert overview["stats"] == world.get(f"{base}/stats", token).get_json()["data"]
    assert overview["workflows"] == []
    (webhook,) = overview["webhooks"]
    assert webhook.pop("next_attempt_at") == world.clock()
    assert (webhook.pop("last_success_at"), webhook.pop("median_ms")) == (None, None)
    assert [webhook] == world.get(f"{base}/webhooks", token).get_json()["webhooks"]


def test_its_newest_rows_come_with_it_when_they_are_asked_for(world: World, trigger: DeployedTrigger) -> None:
    emit(world.service, trigger, {"n": 2})
    token, base = world.frontend(), f"P/deployed-triggers/{trigger.id}"
    plain = world.get(f"{base}/overview", token).get_json()["data"]
    assert plain.keys().isdisjoint({"events", "deliveries"})
    whole = world.get(f"{base}/overview?events=1&deliveries=1", token).get_json()["data"]
    assert whole["events"] == world.get(f"{base}/events?n=1&brief=true&extensions=true", token).get_json()
    assert whole["events"]["page_info"] == {"count": 1, "total_count": 2}
    assert whole["deliveries"] == world.get(f"{base}/deliveries?limit=1", token).get_json()
    after = whole["deliveries"]["page_info"]["end_cursor"]
    assert world.get(f"{base}/deliveries?limit=1&after={after}", token).get_json()["data"] != []
    for query in ("events=0", "events=many", "deliveries=-1"):
        assert world.get(f"{base}/overview?{query}", token).status_code == 400


def test_several_days_at_once(world: World, trigger: DeployedTrigger) -> None:
    other, foreign = plant_trigger(world.service, world.scene), plant_trigger(world.service, world.scene, user="bob")
    ids = ",".join([trigger.id, other.id, foreign.id, "dc_nothing"])
    listed = world.get(f"P/trigger-stats?ids={ids}", world.frontend()).get_json()["data"]
    assert {day["id"]: (day["waiting"], day["failing"]) for day in listed} == {trigger.id: (1, []), other.id: (0, [])}
    stats = world.get(f"P/deployed-triggers/{trigger.id}/stats", world.frontend()).get_json()["data"]
    assert next(day["hours"] for day in listed if day["id"] == trigger.id) == stats["hours"]
    with world.service.store.write() as tx:
        tx.run("UPDATE endpoints SET consecutive_failures = 1, last_error = 'No.'")
    (day,) = world.get(f"P/trigger-stats?ids={trigger.id}", world.frontend()).get_json()["data"]
    assert [webhook["url"] for webhook in day["failing"]] == [A]


def test_too_many_or_none_is_refused(world: World) -> None:
    plant_trigger(world.service, world.scene)
    for query in ("", "?ids=" + ",".join(f"dc_{number}" for number in range(101))):
        assert world.get(f"P/trigger-stats{query}", world.frontend()).status_code == 400


def test_events_in_brief_hold_nothing(world: World, trigger: DeployedTrigger) -> None:
    events = world.get(f"P/deployed-triggers/{trigger.id}/events?brief=true", world.frontend()).get_json()["data"]
    assert [(event["e"], event["sum"]) for event in events] == [(None, "Thing 0")]
