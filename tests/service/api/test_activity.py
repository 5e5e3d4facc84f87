"""What happened in an environment: everything, one user's, and what outlives its account."""

from typing import Any

from tests.service.api.deploying import deploy


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


def test_it_is_that_of_one_app_by_slug_or_id_or_of_one_account(world: Any) -> None:
    server = world.server()
    keys, oauth = world.plant(), world.plant("alice", "tinyoauth")
    for account in (keys, oauth):
        assert world.call("DELETE", f"P/accounts/{account.id}", server).status_code == 204
    for app in ("tinykeys", world.service.catalog.app("tinykeys").id):
        (entry,) = world.get(f"P/activity?app={app}", server).json["data"]
        assert (entry["app"], entry["account_id"]) == ("tinykeys", keys.id)
    assert len(world.get("P/activity?app=", server).json["data"]) == 2
    (entry,) = world.get(f"P/activity?account_id={oauth.id}", server).json["data"]
    assert (entry["app"], entry["sentence"]) == ("tinyoauth", "Disconnected.")
    assert world.get("P/activity?app=unknown", server).json["data"] == []


def test_it_comes_newest_first_in_pages_of_one_kind(world: Any) -> None:
    server, account = world.server(), world.plant()
    for name in ("One", "Two", "Three"):
        world.clock.advance(1)
        assert world.call("PATCH", f"P/accounts/{account.id}", server, json={"name": name}).status_code == 200
    assert world.call("DELETE", f"P/accounts/{account.id}", server).status_code == 204
    first = world.get("P/activity?kind=renamed&limit=2", server).json
    assert [entry["sentence"] for entry in first["data"]] == ["Renamed to “Three”.", "Renamed to “Two”."]
    assert (first["page_info"]["count"], first["page_info"]["total_count"]) == (2, 3)
    rest = world.get(f"P/activity?kind=renamed&limit=2&after={first['page_info']['end_cursor']}", server).json
    assert [entry["sentence"] for entry in rest["data"]] == ["Renamed to “One”."]
    (gone,) = world.get(f"P/activity?kind=disconnected&account_id={account.id}", server).json["data"]
    assert (gone["sentence"], gone["good"], gone["trigger_id"]) == ("Disconnected.", True, None)


def test_a_page_that_cannot_be_is_refused_with_its_field(world: Any) -> None:
    answer = world.get("P/activity?limit=0", world.server())
    assert answer.status_code == 400
    assert answer.json["details"] == [{"field": "limit", "message": "Use a whole number from 1 to 100."}]
