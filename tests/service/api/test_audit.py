"""Every deed over the API stands in the audit with whoever did it, and projects do not see each other's."""

from typing import Any

from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


def told(world: Any, token: str, **query: str) -> list[tuple[str, str, str]]:
    answer = world.get("P/audit", token, query_string={"limit": "100", **query})
    assert answer.status_code == 200, answer.text
    return [(one["actor_type"], one["noun"], one["verb"]) for one in answer.json["data"]]


def test_who_did_what_to_which_thing(world: Any) -> None:
    server, frontend, account = world.server(), world.frontend(), world.plant()
    url = f"P/accounts/{account.id}"
    assert world.call("PATCH", url, server, json={"name": "Work"}).status_code == 200
    assert world.call("PATCH", url, frontend, json={"name": "Mine"}).status_code == 200
    assert world.call("PUT", "P/webhook", server, json={"url": "https://example.com/h?key=canary"}).status_code == 200
    assert world.post("P/webhook/regenerate_signing_key", server).status_code == 200
    assert world.call("DELETE", url, frontend).status_code == 204
    assert told(world, server, noun="account") == [
        ("user", "account", "disconnected"), ("user", "account", "renamed"), ("client", "account", "renamed"),
    ]  # fmt: skip
    assert told(world, server, subject_id=account.id) == told(world, server, noun="account")
    deeds = told(world, server)
    assert ("client", "webhook", "created") in deeds and ("client", "key", "regenerated") in deeds
    assert ("system", "client", "created") in deeds, "made by the test itself, outside of any request"
    actors = {one["actor"] for one in world.get("P/audit", server).json["data"]}
    assert "alice" in actors
    whose = {
        one["external_user_id"] for one in world.get("P/audit", server, query_string={"noun": "account"}).json["data"]
    }
    assert whose == {"alice"}, "as the developer calls them"
    assert "canary" not in world.get("P/audit", server).text


def test_another_project_and_environment_see_nothing_of_it(world: Any) -> None:
    account = world.plant()
    world.call("PATCH", f"P/accounts/{account.id}", world.server(), json={"name": "Work"})
    bound = world.server(project_id=world.scene.project_id)
    assert len(told(world, world.server(), noun="client")) == 3
    assert len(told(world, bound, noun="client")) == 1, "its own making; the others belong to the workspace"
    assert ("client", "account", "renamed") not in [
        (one["actor_type"], one["noun"], one["verb"])
        for one in world.get("P/audit", world.server(), env="production").json["data"]
    ]
    other = Scene(projects.create(world.service, name="Other").id, "development")
    path = f"/v1/connect/{other.project_id}/audit"
    answer = world.get(path, world.server(), headers={"x-pd-environment": "development"})
    assert account.id not in answer.text


def test_a_frontend_may_not_look(world: Any) -> None:
    assert world.get("P/audit", world.frontend()).status_code == 403
