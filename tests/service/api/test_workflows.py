"""Workflows over the API, and the triggers whose events go there."""

import pytest

from tests.fakes.deployed import plant_trigger
from tests.service.api.conftest import World
from webapp.service.domain.deliveries import endpoints, event_targets, trigger_webhooks, workflows
from webapp.service.domain.projects import projects

URL = "https://a.example/orders"


def test_a_workflow_from_nothing_to_nothing(world: World) -> None:
    server = world.server()
    body = {"name": "Orders", "url": URL}
    made = world.post("P/workflows", server, json=body).get_json()["data"]
    key = made["signing_key"]
    assert made["id"].startswith("p_") and key.startswith("whsec_") and (made["name"], made["url"]) == ("Orders", URL)
    one = f"P/workflows/{made['id']}"
    (listed,) = world.get("P/workflows", server).get_json()["data"]
    assert listed == world.get(one, server).get_json()["data"] == {n: v for n, v in made.items() if n != "signing_key"}
    assert world.get(f"{one}/signing_key", server).get_json()["data"] == {"signing_key": key}
    assert world.get(f"{one}/signing_key", world.server("connect:projects:read")).status_code == 403
    assert (listed["triggers"], listed["last_success_at"], listed["active"]) == (0, None, True)
    changed = world.call("PATCH", one, server, json={"name": "Sales", "url": f"{URL}/2"}).get_json()["data"]
    assert (changed["name"], changed["url"]) == ("Sales", f"{URL}/2") and "signing_key" not in changed
    assert world.post(f"{one}/regenerate_signing_key", server).get_json()["data"]["signing_key"] != key
    with world.service.store.write() as tx:
        endpoints.switch_off(tx, made["id"], "It is gone.", world.clock())
    assert world.get(one, server).get_json()["data"]["active"] is False
    assert world.post(f"{one}/reset_delivery_state", server).get_json()["data"]["active"] is True
    assert world.call("DELETE", one, server).status_code == 204
    assert world.call("DELETE", one, server).status_code == 404
    assert world.get("P/workflows", server).get_json()["data"] == []


def test_its_triggers_are_reported_and_lose_it_when_it_goes(world: World) -> None:
    server, workflow = world.server(), workflows.add(world.service, world.scene, name="Orders", url=URL)
    trigger = plant_trigger(world.service, world.scene, [])
    with world.service.store.write() as tx:
        trigger_webhooks.set_workflows(tx, trigger, [workflow.id])
    (used,) = world.get(f"P/workflows/{workflow.id}/triggers", server).get_json()["data"]
    assert used == {"id": trigger.id, "name": trigger.name, "external_user_id": "alice"}
    assert world.get(f"P/workflows/{workflow.id}", server).get_json()["data"]["triggers"] == 1
    world.call("DELETE", f"P/workflows/{workflow.id}", server)
    assert event_targets.of_trigger(world.service.store, trigger) == []


@pytest.mark.parametrize("body", [{}, {"name": "Orders"}, {"name": " ", "url": URL}, {"name": "a", "url": "ftp://a"}])
def test_a_body_that_cannot_be_used(world: World, body: dict[str, str]) -> None:
    answer = world.post("P/workflows", world.server(), json=body)
    assert answer.status_code == 400 and answer.get_json()["details"]


def test_others_do_not_see_them(world: World) -> None:
    workflow = workflows.add(world.service, world.scene, name="Orders", url=URL)
    one, change = f"P/workflows/{workflow.id}", {"name": "Mine"}
    calls = [("GET", one), ("PATCH", one), ("DELETE", one), ("GET", "P/workflows"), ("GET", f"{one}/triggers")]
    for method, path in calls:
        for token in (world.frontend(), world.server("connect:accounts:read")):
            assert world.call(method, path, token, json=change).status_code == 403
    other = projects.create(world.service, name="Other")
    elsewhere = f"/v1/connect/{other.id}/workflows/{workflow.id}"
    for method in ("GET", "PATCH", "DELETE"):
        assert world.call(method, one, world.server(), env="production", json=change).status_code == 404
        headers = {"x-pd-environment": "development"}
        assert world.call(method, elsewhere, world.server(), headers=headers, json=change).status_code == 404
    assert workflows.get(world.service.store, world.scene, workflow.id) == workflow
