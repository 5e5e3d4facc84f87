"""Events and deliveries over the API: lists, details, sending again, the last 24 hours."""

from typing import Any

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.deployed import emit, plant_trigger
from tests.fakes.receiver import Mood
from tests.service.api.conftest import World
from webapp.kit.clock import HOUR
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


def test_a_delivery_and_everything_about_it(world: World, posting: DeliveryHarness, trigger: DeployedTrigger) -> None:
    posting.receiver.moods["/hook"] = Mood(500, body=b"no")
    (event,) = emit(world.service, trigger, {"n": 1})
    posting.turn()
    (row,) = ask(world, trigger, "deliveries")["data"]
    assert (row["event_id"], row["status"], row["attempt"], row["response_status"]) == (event.id, "waiting", 1, 500)
    assert row["next_attempt_at"] > world.clock()
    assert row["last_attempt_at"] == world.clock()
    assert row["url"] == posting.receiver.url("/…"), "the rest is often a secret"
    found = ask(world, trigger, f"deliveries/{row['id']}")["data"]
    assert {name: found[name] for name in row} == row
    assert found["request"]["body"] == '{"n":1}'
    sent = posting.receiver.got[0].headers
    for name in ("x-pd-signature", "webhook-id", "webhook-timestamp", "webhook-signature"):
        assert found["request"]["headers"][name] == sent[name]
    (attempt,) = found["attempts"]
    assert (attempt["n"], attempt["response_status"], attempt["response_body"]) == (1, 500, "no")
    assert posting.key(trigger) not in str(found)


def test_lists_by_status_time_and_event(world: World, posting: DeliveryHarness, trigger: DeployedTrigger) -> None:
    emit(world.service, trigger, 1)
    posting.turn()
    world.clock.advance(HOUR)
    (event,) = emit(world.service, trigger, 2)
    found = ask(world, trigger, "deliveries")
    assert found["page_info"]["total_count"] == 2
    for query, count in (
        ("status=waiting", 1), ("status=delivered", 1), ("status=failed", 0), (f"since={world.clock()}", 1),
        (f"until={world.clock() - 1}", 1), (f"event_id={event.id}", 1), ("limit=1", 1),
    ):  # fmt: skip
        assert len(ask(world, trigger, f"deliveries?{query}")["data"]) == count, query
    first = ask(world, trigger, "deliveries?limit=1")
    second = ask(world, trigger, f"deliveries?limit=1&after={first['page_info']['end_cursor']}")
    assert [first["data"][0]["event_id"], second["page_info"]["end_cursor"]] == [event.id, ""]
    for bad in ("status=lost", "since=yesterday", "after=x"):
        assert world.get(f"P/deployed-triggers/{trigger.id}/deliveries?{bad}", world.frontend()).status_code == 400


def test_sending_one_again(world: World, posting: DeliveryHarness, trigger: DeployedTrigger) -> None:
    emit(world.service, trigger, {"n": 1})
    posting.turn()
    (row,) = ask(world, trigger, "deliveries")["data"]
    again = ask(world, trigger, f"deliveries/{row['id']}/resend", "POST")["data"]
    assert (again["id"], again["status"], again["next_attempt_at"]) == (row["id"], "waiting", world.clock())
    posting.turn()
    first, second = posting.receiver.got
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert len(ask(world, trigger, f"deliveries/{row['id']}")["data"]["attempts"]) == 2


def test_one_that_is_on_its_way_is_left_alone(world: World, posting: DeliveryHarness, trigger: DeployedTrigger) -> None:
    emit(world.service, trigger, {"n": 1})
    (task,) = posting.claim()
    again = ask(world, trigger, f"deliveries/{task.id}/resend", "POST")["data"]
    assert (again["status"], again["next_attempt_at"]) == ("waiting", None)
    assert posting.claim() == []


def test_sending_again_all_that_failed(world: World, posting: DeliveryHarness, trigger: DeployedTrigger) -> None:
    posting.receiver.moods["/hook"] = Mood(410)
    emit(world.service, trigger, 1)
    posting.turn()
    ask(world, trigger, f"webhooks/{posting.endpoint(trigger).id}/reset_delivery_state", "POST")
    began = world.clock.at = world.clock() + HOUR
    emit(world.service, trigger, 2, 3)
    posting.turn()
    off = world.call("POST", f"P/deployed-triggers/{trigger.id}/deliveries/resend", world.frontend(), json={})
    assert off.get_json() == {"count": 0}
    (row, *_) = ask(world, trigger, "deliveries")["data"]
    refused = world.post(f"P/deployed-triggers/{trigger.id}/deliveries/{row['id']}/resend", world.frontend())
    assert refused.status_code == 409
    posting.receiver.moods.clear()
    ask(world, trigger, f"webhooks/{posting.endpoint(trigger).id}/reset_delivery_state", "POST")
    counted = ask(world, trigger, "deliveries/resend", "POST", json={"since": began, "dry_run": True})
    assert counted == {"count": 2}
    assert posting.claim() == []
    assert ask(world, trigger, "deliveries/resend", "POST", json={"since": began}) == {"count": 2}
    assert len(posting.turn()) == 2
    assert ask(world, trigger, "deliveries?status=failed")["page_info"]["total_count"] == 1
    assert ask(world, trigger, "deliveries/resend", "POST", json={"status": "all"}) == {"count": 3}
    bad = world.post(f"P/deployed-triggers/{trigger.id}/deliveries/resend", world.frontend(), json={"status": "x"})
    assert bad.status_code == 400


def test_the_last_24_hours(world: World, posting: DeliveryHarness, trigger: DeployedTrigger) -> None:
    emit(world.service, trigger, 1, 2)
    posting.turn()
    found = ask(world, trigger, "stats")["data"]
    assert (found["delivered"], found["failed"], found["waiting"], found["events"]) == (2, 0, 0, 2)
    assert [hour["delivered"] for hour in found["hours"]] == [0] * 23 + [2]
    assert found["last_event_at"] == world.clock()
    assert found["last_error"] is None
