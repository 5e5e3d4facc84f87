"""Webhooks of the whole workspace, or of the client's own project."""

from urllib.parse import urlencode

import orjson
import pytest

from tests.service.api.conftest import World
from webapp.people import api_keys, users
from webapp.service.domain.deliveries import endpoint_state, endpoints
from webapp.service.domain.projects import projects

URL = "https://a.example/hook"


def test_a_general_webhook(world: World) -> None:
    query = urlencode({"url": "http://hooks.example:8080/x", "name": "Ops", "description": "For the pager"})
    answer = world.post(f"/v1/webhooks?{query}", world.server("*"))
    assert answer.status_code == 200
    found = answer.get_json()["data"]
    at = world.clock() // 1000
    assert found == {
        "id": found["id"], "user_id": found["user_id"], "name": "Ops", "description": "For the pager",
        "url": "http://hooks.example:8080/x", "active": True, "created_at": at, "updated_at": at,
    }  # fmt: skip
    assert found["id"].startswith("wh_")
    assert found["user_id"].startswith("u_")
    assert [one.id for one in endpoints.general(world.service.store, world.scene.project_id)] == [found["id"]]


def test_a_projects_own_client_hears_of_its_project_only(world: World) -> None:
    query = urlencode({"url": URL, "name": "Ops", "description": ""})
    token = world.server("*", project_id=world.scene.project_id)
    assert world.post(f"/v1/webhooks?{query}", token).status_code == 200
    assert len(endpoints.general(world.service.store, world.scene.project_id)) == 1
    assert endpoints.general(world.service.store, "proj_other") == []


@pytest.mark.parametrize("missing", ["url", "name", "description"])
def test_all_three_are_required(world: World, missing: str) -> None:
    given = {"url": URL, "name": "Ops", "description": "x"}
    del given[missing]
    assert world.post(f"/v1/webhooks?{urlencode(given)}", world.server("*")).status_code == 400


def test_it_takes_the_widest_scope(world: World) -> None:
    query = urlencode({"url": URL, "name": "Ops", "description": "x"})
    assert world.post(f"/v1/webhooks?{query}", world.server("connect:*")).status_code == 403
    assert world.post(f"/v1/webhooks?{query}", world.frontend()).status_code == 403


def made(world: World, token: str, url: str = URL) -> str:
    query = urlencode({"url": url, "name": "Ops", "description": ""})
    return str(world.post(f"/v1/webhooks?{query}", token).get_json()["data"]["id"])


def test_they_are_listed_with_how_they_do(world: World) -> None:
    token = world.server()
    webhook_id = made(world, token)
    (listed,) = world.get("/v1/webhooks", token).get_json()["data"]
    facts = ("id", "url", "project_id", "active", "last_success_at", "median_ms", "next_attempt_at")
    assert [listed[name] for name in facts] == [webhook_id, URL, None, True, None, None, None]
    assert listed["delivery_state"]["state"] == "happy"


def test_one_that_was_switched_off_begins_anew(world: World) -> None:
    token = world.server()
    webhook_id = made(world, token)
    with world.service.store.write() as tx:
        endpoint_state.deactivate(tx, webhook_id, "It wants no more.", world.clock())
    assert world.post(f"/v1/webhooks/{webhook_id}/test_event", token).status_code == 204
    (listed,) = world.get("/v1/webhooks", token).get_json()["data"]
    assert (listed["active"], listed["delivery_state"]["last_error"]) == (False, "It wants no more.")
    assert listed["next_attempt_at"] is None, "what waits for it is put off"
    fresh = world.post(f"/v1/webhooks/{webhook_id}/reset_delivery_state", token).get_json()["data"]
    assert (fresh["active"], fresh["delivery_state"]["state"]) == (True, "happy")
    assert fresh["next_attempt_at"] == world.clock(), "what waited is due"


def test_a_removed_one_is_told_nothing_more(world: World) -> None:
    token = world.server()
    webhook_id = made(world, token)
    assert world.call("DELETE", f"/v1/webhooks/{webhook_id}", token).status_code == 204
    assert world.get("/v1/webhooks", token).get_json() == {"data": []}
    for method, verb in (("DELETE", ""), ("POST", "/test_event"), ("POST", "/reset_delivery_state")):
        assert world.call(method, f"/v1/webhooks/{webhook_id}{verb}", token).status_code == 404


def test_a_test_tells_nothing_but_that_it_is_one(world: World) -> None:
    token = world.server()
    webhook_id = made(world, token)
    path = f"/v1/webhooks/{webhook_id}/test_event"
    assert world.post(path, token).status_code == world.post(f"{path}?environment=production", token).status_code == 204
    for query, status in (("project_id=proj_x", 404), ("project_id=x", 400), ("environment=x", 400)):
        assert world.post(f"{path}?{query}", token).status_code == status
    rows = world.service.store.all("SELECT body, environment FROM events ORDER BY id")
    bodies = [orjson.loads(row["body"]) for row in rows]
    assert [body["environment"] for body in bodies] == ["development", "production"]
    assert bodies[0] == {
        "event": "TEST", "environment": "development", "project_id": world.scene.project_id,
        "message": "This is a test.",
    }  # fmt: skip


def test_a_projects_own_client_looks_after_its_own_only(world: World) -> None:
    everybodys, ours = made(world, world.server()), world.server("*", project_id=world.scene.project_id)
    own = made(world, ours, "https://b.example/hook")
    assert [one["id"] for one in world.get("/v1/webhooks", ours).get_json()["data"]] == [own]
    for webhook_id in (everybodys, "wh_absent"):
        for method, verb in (("DELETE", ""), ("POST", "/test_event"), ("POST", "/reset_delivery_state")):
            refused = world.call(method, f"/v1/webhooks/{webhook_id}{verb}", ours)
            assert (refused.status_code, refused.get_json()["error"]) == (404, "There is no such webhook.")
    other = projects.create(world.service, name="Other").id
    assert world.post(f"/v1/webhooks/{own}/test_event?project_id={other}", world.server()).status_code == 404


def test_members_look_after_none(world: World) -> None:
    person = users.create(
        world.service.store, world.clock, email="m@example.com", password="a long password", role="member"
    )
    key = api_keys.create(world.service.store, world.clock, person.id)
    webhook_id = made(world, world.server())
    for method, path in (("GET", ""), ("DELETE", f"/{webhook_id}"), ("POST", f"/{webhook_id}/test_event")):
        assert world.call(method, f"/v1/webhooks{path}", key).status_code == 403
