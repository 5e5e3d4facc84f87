"""External users: the list, and removing one with everything that is theirs and nothing that is not."""

from typing import Any

from tests.once import stores
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


def test_the_list(world: Any) -> None:
    server = world.server("connect:users:read")
    for name in ("alice", "Bob/100%", "Zoë"):
        world.frontend(name)
        world.clock.advance(1000)
    world.frontend("elsewhere", Scene(world.scene.project_id, "production"))
    answer = world.get("P/users", server).json
    assert [one["external_id"] for one in answer["data"]] == ["alice", "Bob/100%", "Zoë"]
    assert set(answer["data"][0]) == {"id", "external_id", "created_at", "updated_at"}
    assert answer["data"][0]["id"].startswith("exu_") and answer["data"][0]["created_at"].endswith("Z")
    assert answer["page_info"]["total_count"] == 3
    for query, name in (("bob", "Bob/100%"), ("ZOË", "Zoë")):
        assert [one["external_id"] for one in world.get(f"P/users?q={query}", server).json["data"]] == [name]
    assert world.get("P/users", server, query_string={"q": "%"}).json["page_info"]["total_count"] == 1
    first = world.get("P/users?limit=2", server).json
    rest = world.get("P/users", server, query_string={"limit": 2, "after": first["page_info"]["end_cursor"]}).json
    assert first["data"] + rest["data"] == answer["data"] and rest["page_info"]["end_cursor"] == ""


def test_removing_a_user_removes_all_that_is_theirs(world: Any, provider: Any) -> None:
    server, tokens = world.server(), {name: world.frontend(name) for name in ("alice", "bob")}
    users = {name: external_users.get(world.service.store, world.scene, name) for name in tokens}
    for name in tokens:
        account = world.plant(name)
        props = {"account": {"authProvisionId": account.id}, "ids": [name]}
        body = {"id": "~/poll", "external_user_id": name, "configured_props": props}
        assert world.post("P/triggers/deploy", server, json=body).status_code == 200
        run = {"id": "~/writes", "external_user_id": name, "configured_props": {"names": ["a"]}, "stash_id": "NEW"}
        assert world.post("P/actions/run", server, json=run).status_code == 200
        reload = {"id": "~/make-task", "external_user_id": name}
        assert world.post("P/actions/props", server, json=reload).status_code == 200

    assert world.call("DELETE", "P/users/alice", server).status_code == 204

    assert "/me?leave=alice" in provider.calls and "/me?leave=bob" not in provider.calls
    assert world.get("P/accounts", tokens["alice"]).status_code == 401
    assert world.get("P/accounts", tokens["bob"]).json["page_info"]["total_count"] == 1
    assert world.get("P/accounts", server).json["page_info"]["total_count"] == 1
    assert [one["external_id"] for one in world.get("P/users", server).json["data"]] == ["bob"]
    store = world.service.store
    for table, column in stores.columns(store):
        if column in ("external_user_id", "external_id") and table != "audit":
            names = {"a": "alice", "b": users["alice"].id}
            assert store.all(f"SELECT 1 FROM {table} WHERE {column} IN (:a, :b)", names) == [], table
    assert world.call("DELETE", "P/users/alice", server).status_code == 404


def test_a_user_of_another_environment_is_like_an_absent_one(world: Any) -> None:
    world.frontend("alice")
    theirs = world.call("DELETE", "P/users/alice", world.server(), env="production")
    absent = world.call("DELETE", "P/users/nobody", world.server())
    assert (theirs.status_code, theirs.data) == (absent.status_code, absent.data) == (404, absent.data)
    assert world.call("DELETE", "P/users/alice", world.frontend("alice")).status_code == 403


def test_a_slash_in_an_id_is_part_of_it(world: Any) -> None:
    world.frontend("team/alice")
    assert world.call("DELETE", "P/users/team%2Falice", world.server()).status_code == 204
    assert world.get("P/users", world.server()).json["data"] == []
