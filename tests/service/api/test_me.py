"""``GET /v1/users/me``: a person by their API key, the owner by an OAuth client."""

from typing import Any

from webapp.people import api_keys, users


def test_a_person_and_their_workspace(world: Any) -> None:
    store, clock = world.service.store, world.clock
    before = world.get("/v1/users/me", world.server()).json["data"]  # nobody has signed up yet
    assert before["id"].startswith("u_") and before["email"] == "support@localhost"
    assert set(before) == {"id", "username", "email", "role", "orgs"}
    assert (before["username"], before["role"], before["orgs"][0]["email"]) == ("support", "owner", before["email"])
    users.create(store, clock, email="eve@example.com", password="ten letters", role="developer")
    clock.advance(1000)
    owner = users.create(store, clock, email="ada@example.com", password="ten letters", role="owner")
    clock.advance(1000)
    member = users.create(store, clock, email="bob@example.com", password="ten letters", role="member")
    key = api_keys.create(store, clock, member.id)
    data = world.get("/v1/users/me", key).json["data"]
    assert (data["id"], data["username"], data["email"]) == (member.id, "bob", "bob@example.com")
    assert data["role"] == "member"
    (workspace,) = data["orgs"]
    assert set(workspace) == {"id", "name", "orgname", "email"} and workspace["email"] == "bob@example.com"
    assert workspace["id"].startswith("o_") and workspace["name"] == workspace["orgname"] == "localhost"
    by_client = world.get("/v1/users/me", world.server()).json["data"]
    assert by_client["id"] == owner.id and by_client["orgs"][0]["id"] == workspace["id"]
    assert world.get("/v1/users/me", world.server("connect:*")).status_code == 403
    api_keys.create(store, clock, member.id)
    refused = world.get("/v1/users/me", key)
    assert refused.status_code == 401 and refused.headers["WWW-Authenticate"] == "Bearer"
