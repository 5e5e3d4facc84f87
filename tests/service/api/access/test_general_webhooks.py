"""Webhooks of the whole workspace, or of the client's own project."""

from urllib.parse import urlencode

import pytest

from tests.service.api.conftest import World
from webapp.service.domain.deliveries import endpoints

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


def test_a_projects_own_client_hears_of_its_project_alone(world: World) -> None:
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
