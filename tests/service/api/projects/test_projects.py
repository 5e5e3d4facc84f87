"""Projects over the API: the list, one of them, and the info call with and without the project in the path."""

from typing import Any

from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.projects import projects


def test_the_list(world: Any) -> None:
    other = projects.create(world.service, name="Other")
    mine = projects.get(world.service.store, world.scene.project_id)
    answer = world.get("/v1/connect/projects", world.server()).json
    assert {one["id"] for one in answer["data"]} == {mine.id, other.id}
    assert mine.id.startswith("proj_")
    assert {
        "id": mine.id, "name": "Acme", "app_name": "Acme App", "support_email": "help@acme.example",
        "connect_require_key_auth_test": True,
    } in answer["data"]  # fmt: skip
    assert set(answer["data"][0]) == {"id", "name", "app_name", "support_email", "connect_require_key_auth_test"}
    assert answer["page_info"]["total_count"] == 2
    for query in ("OTHER", "the"):
        found = world.get(f"/v1/connect/projects?q={query}", world.server()).json
        assert [one["id"] for one in found["data"]] == [other.id]
    doctors = projects.create(world.service, name="Ärzte")
    for query in ("ärzte", "ÄRZT", "arzte"):
        found = world.get(f"/v1/connect/projects?q={query}", world.server()).json
        assert [one["id"] for one in found["data"]] == [doctors.id], query
    first = world.get("/v1/connect/projects?limit=1", world.server()).json
    second = world.get(f"/v1/connect/projects?limit=1&after={first['page_info']['end_cursor']}", world.server()).json
    assert len(first["data"]) == len(second["data"]) == 1 and first["data"] != second["data"]


def test_a_client_of_one_project_sees_that_one(world: Any) -> None:
    other = projects.create(world.service, name="Other")
    token = world.server(project_id=other.id)
    assert [one["id"] for one in world.get("/v1/connect/projects", token).json["data"]] == [other.id]
    assert world.get(f"/v1/connect/projects/{other.id}", token).json == other.to_json()
    theirs = world.get(f"/v1/connect/projects/{world.scene.project_id}", token)
    absent = world.get("/v1/connect/projects/proj_none", token)
    assert theirs.status_code == 404 and theirs.data == absent.data


def test_no_environment_is_needed_where_none_is_meant(world: Any) -> None:
    assert world.get("/v1/connect/projects", world.server()).status_code == 200
    assert world.get("/v1/connect/apps", world.server()).status_code == 200


def test_info_names_the_apps_with_an_own_client(world: Any) -> None:
    app = world.service.catalog.app("tinyoauth")
    oauth_apps.add(world.service, app="tinyoauth", client_id="op", client_secret="s")
    assert world.get("P/projects/info", world.server()).json == {"apps": []}
    for name in ("gone", "tinyoauth", "tinyoauth"):
        oauth_apps.add(world.service, app=name, client_id="c", client_secret="s", project_id=world.scene.project_id)
    expected = {"apps": [{"id": app.id, "name_slug": "tinyoauth"}]}
    assert world.get("P/projects/info", world.server()).json == expected
    assert world.get("/v1/connect/projects/info", world.frontend()).json == expected
    assert world.get("P/projects/info", world.frontend()).json == expected
    assert world.get("/v1/connect/projects/info", world.server()).status_code == 404
