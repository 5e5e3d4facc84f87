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


def test_the_newest_of_its_logs_come_with_it_when_they_are_asked_for(world: World, trigger: DeployedTrigger) -> None:
    emit(world.service, trigger, {"n": 2})
    emit(world.service, plant_trigger(world.service, world.scene), {"n": 3})
    token, base = world.frontend(), f"P/deployed-triggers/{trigger.id}/overview"
    assert "logs" not in world.get(base, token).get_json()["data"]
    for query in ("", "&kind=event", "&kind=delivery", "&kind=run&quiet=true"):
        listed = world.get(f"P/logs?id={trigger.id}&limit=1{query}", token).get_json()
        assert world.get(f"{base}?logs=1{query}", token).get_json()["data"]["logs"] == listed
    logs = world.get(f"{base}?logs=1&kind=event", token).get_json()["data"]["logs"]
    assert (len(logs["data"]), logs["counts"]["event"], logs["counts"]["delivery"]) == (1, 2, 2)
    uncounted = world.get(f"{base}?logs=1&kind=event&counts=false", token).get_json()["data"]["logs"]
    assert uncounted == {**logs, "counts": {}}
    after = logs["page_info"]["end_cursor"]
    rest = world.get(f"P/logs?id={trigger.id}&kind=event&limit=1&after={after}", token).get_json()
    assert {entry["trigger_id"] for entry in (*logs["data"], *rest["data"])} == {trigger.id}
    for query in ("logs=0", "logs=many", "logs=1&kind=nothing"):
        assert world.get(f"{base}?{query}", token).status_code == 400


def test_of_its_logs_a_token_sees_the_kinds_that_its_scopes_allow(world: World, trigger: DeployedTrigger) -> None:
    token = world.frontend(scope="connect:deployed_triggers:read")
    path = f"P/deployed-triggers/{trigger.id}/overview?logs=9"
    assert world.get(path, token).get_json()["data"]["logs"]["counts"].keys() == {"run", "event", "delivery"}
    assert world.get(f"{path}&kind=account", token).status_code == 403


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
