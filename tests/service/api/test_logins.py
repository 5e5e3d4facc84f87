"""The logins of the workspace over the API."""

from typing import Any

import pytest

from webapp.people import password_resets, sessions, users


@pytest.fixture
def people(world: Any) -> dict[str, str]:
    """An owner and a member, by their roles."""
    store, clock = world.service.store, world.clock
    made = {}
    for role in ("owner", "member"):
        made[role] = users.create(store, clock, email=f"{role}@example.com", password="ten letters", role=role).id
        clock.advance(1)
    return made


def test_logins_are_listed_changed_and_removed(world: Any, people: dict[str, str]) -> None:
    token, member = world.server(), f"/v1/users/{people['member']}"
    listed = world.get("/v1/users?limit=1", token).json
    assert [entry["email"] for entry in listed["data"]] == ["owner@example.com"]
    assert listed["page_info"]["total_count"] == 2
    after = listed["page_info"]["end_cursor"]
    assert world.get(f"/v1/users?limit=1&after={after}", token).json["data"] == [world.get(member, token).json]
    changed = world.call("PATCH", member, token, json={"role": "developer", "disabled": True}).json
    assert changed["role"] == "developer" and changed["disabled_at"]
    assert world.call("PATCH", member, token, json={"disabled": False}).json["disabled_at"] is None
    assert world.call("PATCH", member, token, json={"role": "king"}).status_code == 400
    assert world.call("DELETE", member, token).status_code == 204
    assert world.get(member, token).status_code == 404


def test_the_last_owner_is_kept(world: Any, people: dict[str, str]) -> None:
    token, owner = world.server(), f"/v1/users/{people['owner']}"
    for method, body in (("PATCH", {"role": "member"}), ("PATCH", {"disabled": True}), ("DELETE", None)):
        refused = world.call(method, owner, token, json=body)
        assert refused.status_code == 409 and "make somebody else an owner first" in refused.json["error"]
    assert world.get(owner, token).json["role"] == "owner"


def test_sessions_end_and_a_link_is_made(world: Any, people: dict[str, str]) -> None:
    store, token, member = world.service.store, world.server(), f"/v1/users/{people['member']}"
    session = sessions.start(store, world.clock, user_id=people["member"], user_agent="", address="")
    assert world.call("DELETE", f"{member}/sessions", token).status_code == 204
    assert sessions.find(store, world.clock, session) is None
    assert world.call("DELETE", f"{member}/two_step", token).status_code == 204
    reset = world.post(f"{member}/password_reset", token).json
    secret = reset["url"].partition("/new-password?token=")[2]
    person = password_resets.user_of_token(store, world.clock, secret)
    assert person is not None and person.id == people["member"]
    world.call("PATCH", member, token, json={"disabled": True})
    assert world.post(f"{member}/password_reset", token).status_code == 409


def test_only_a_client_of_the_whole_workspace_may(world: Any, people: dict[str, str]) -> None:
    for path in ("/v1/users", f"/v1/users/{people['member']}", "/v1/oauth/clients"):
        refused = world.get(path, world.server(project_id=world.scene.project_id))
        assert refused.status_code == 403 and "whole workspace" in refused.json["error"]
        assert world.get(path, world.server("connect:*")).status_code == 403
        assert world.get(path, world.frontend()).status_code == 403
