"""What happened in an environment: everything, one user's, and what outlives its account."""

from typing import Any

from tests.service.api.triggers.deploying import deploy


def test_what_happened_stands_in_the_activity(world: Any) -> None:
    token = world.server()
    trigger = deploy(world, token).json["data"]
    deploy(world, token, "schedule-cron", user="bob")
    query = f"P/activity?trigger_id={trigger['id']}"
    (entry,) = world.get(query, token).json["data"]
    assert (entry["kind"], entry["trigger_id"], entry["account_id"]) == ("trigger_deployed", trigger["id"], None)
    assert [one["app"] for one in world.get("P/activity", world.frontend("bob")).json["data"]] == ["schedule"]


def test_activity_outlives_its_accounts_and_keeps_users_apart(world: Any) -> None:
    server = world.server()
    alices, bobs = world.plant("alice"), world.plant("bob")
    for account in (alices, bobs):
        world.clock.advance(1)
        world.call("DELETE", f"P/accounts/{account.id}", server)

    def seen(token: str, query: str = "", **more: Any) -> list[str]:
        return [entry["account_id"] for entry in world.get(f"P/activity{query}", token, **more).json["data"]]

    assert seen(server) == [bobs.id, alices.id]
    assert seen(server, "?external_user_id=alice") == [alices.id]
    assert seen(server, "?external_user_id=carol") == seen(server, env="production") == []
    assert seen(world.frontend("alice")) == [alices.id]
    assert world.get("P/activity?external_user_id=bob", world.frontend("alice")).status_code == 403


def test_an_app_is_named_by_its_slug_or_its_id(world: Any) -> None:
    server = world.server()
    keys, oauth = world.plant(), world.plant("alice", "tinyoauth")
    for account in (keys, oauth):
        assert world.call("DELETE", f"P/accounts/{account.id}", server).status_code == 204
    for app in ("tinykeys", world.service.catalog.app("tinykeys").id):
        (entry,) = world.get(f"P/activity?app={app}", server).json["data"]
        assert (entry["app"], entry["account_id"]) == ("tinykeys", keys.id)
    assert len(world.get("P/activity?app=", server).json["data"]) == 2
    assert world.get("P/activity?app=unknown", server).json["data"] == []
