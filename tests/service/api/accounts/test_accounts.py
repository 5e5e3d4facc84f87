"""Accounts over the API: shapes, filters, credentials, connecting by key against a real provider, removing."""

from typing import Any

import pytest

from webapp.kit.clock import MINUTE, SECOND, iso
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.projects import projects

GOOD, CANARY = {"api_key": "canary-good-key"}, "canary"
SHAPE = {
    "id", "name", "external_id", "healthy", "dead", "app", "created_at", "updated_at", "authorized_scopes", "error",
    "last_refreshed_at", "next_refresh_at",
}  # fmt: skip
OURS = {"identity", "last_checked_at", "next_check_at", "oauth_app_id", "scope_profile", "available"}


@pytest.fixture
def server(world: Any) -> str:
    return str(world.server())


@pytest.fixture
def own_client(world: Any) -> str:
    """An OAuth client of the project's own."""
    client = oauth_apps.add(
        world.service, app="tinyoauth", client_id="dev-client", client_secret="s", project_id=world.scene.project_id
    )
    return client.id


def oauth_account(world: Any, client_id: str | None, **changes: Any) -> Any:
    values = {"oauth_access_token": "canary-access-1", "oauth_refresh_token": "canary-refresh", "oauth_uid": "u-1"}
    facts = {"oauth_app_id": client_id, "values": values, "authorized_scopes": ("profile", "tasks")}
    return world.plant("alice", "tinyoauth", **facts, **changes)


class TestShape:
    def test_an_account_has_every_field_of_the_specification_and_no_other(self, world: Any, server: str) -> None:
        account = world.plant()
        found = world.get(f"P/accounts/{account.id}", server).json
        assert set(found) == SHAPE
        assert found["app"] == world.service.catalog.app("tinykeys").api_dict
        assert (found["id"], found["external_id"]) == (account.id, "alice")
        assert (found["healthy"], found["dead"], found["error"], found["name"]) == (True, False, None, None)
        assert found["created_at"] == found["updated_at"] == iso(world.clock())
        assert found["authorized_scopes"] == []
        made = found["created_at"]
        world.clock.advance(MINUTE)
        named = world.call("PATCH", f"P/accounts/{account.id}", server, json={"name": "Work"})
        assert named.status_code == 200
        found = world.get(f"P/accounts/{account.id}", server).json
        assert (found["name"], found["created_at"], found["updated_at"]) == ("Work", made, iso(world.clock()))

    def test_the_app_is_whole_and_names_the_client_of_the_connection(
        self, world: Any, server: str, own_client: str
    ) -> None:
        facts = {
            "name_slug": "tinyoauth", "name": "Tiny OAuth", "description": "Connects by OAuth.", "featured_weight": 0,
            "categories": ["Testing"], "custom_fields_json": "[]", "auth_type": "oauth", "oauth_app_id": own_client,
            "scope_profiles": [{"name": "read_only", "scopes": ["profile"]}],
        }  # fmt: skip
        account = oauth_account(world, own_client)
        app = world.get(f"P/accounts/{account.id}", server).json["app"]
        assert {name: app[name] for name in app if name not in ("id", "img_src")} == facts
        assert app["id"].startswith("app_") and app["img_src"].startswith("http://localhost:8600/logos/tinyoauth.svg")

    def test_expiry_is_there_when_there_is_one(self, world: Any, server: str) -> None:
        account = oauth_account(world, None, expires_at=world.clock() + 3600 * SECOND)
        found = world.get(f"P/accounts/{account.id}", server).json
        assert set(found) == SHAPE | {"expires_at"}
        assert found["expires_at"] == iso(account.expires_at)
        assert found["authorized_scopes"] == ["profile", "tasks"]

    def test_a_passing_failure_and_the_end_are_told_apart(self, world: Any, server: str) -> None:
        states = ((True, False, None), (False, False, "It is down."), (False, True, "It was revoked."))
        for healthy, dead, error in states:
            account = world.plant(healthy=healthy, dead=dead, error=error)
            found = world.get(f"P/accounts/{account.id}", server).json
            assert (found["healthy"], found["dead"], found["error"]) == (healthy, dead, error)

    def test_every_time_is_its_own(self, world: Any, server: str) -> None:
        names = ("created_at", "updated_at", "last_refreshed_at", "next_refresh_at", "expires_at")
        times = {name: 1_800_000_000_001 + number * MINUTE for number, name in enumerate(names)}
        found = world.get(f"P/accounts/{oauth_account(world, None, **times).id}", server).json
        assert {name: found[name] for name in names} == {
            "created_at": "2027-01-15T08:00:00.001Z", "updated_at": "2027-01-15T08:01:00.001Z",
            "last_refreshed_at": "2027-01-15T08:02:00.001Z", "next_refresh_at": "2027-01-15T08:03:00.001Z",
            "expires_at": "2027-01-15T08:04:00.001Z",
        }  # fmt: skip

    def test_extensions_add_and_never_change(self, world: Any, server: str) -> None:
        account = world.plant()
        plain = world.get(f"P/accounts/{account.id}", server).json
        for path in (f"P/accounts/{account.id}", "P/accounts", "P/users/alice/accounts"):
            answer = world.get(f"{path}?extensions=true", server).json
            found = answer[0] if isinstance(answer, list) else answer.get("data", [answer])[0]
            assert set(found) == SHAPE | OURS
            assert {key: found[key] for key in SHAPE} == plain
            assert found["identity"] == {"id": "u-1", "name": "Ada"}


class TestList:
    def test_the_envelope(self, world: Any, server: str) -> None:
        world.plant(), world.plant("bob")
        answer = world.get("P/accounts", server).json
        assert set(answer) == {"data", "page_info"} and set(answer["data"][0]) == SHAPE
        info = answer["page_info"]
        assert (info["count"], info["total_count"], info["end_cursor"]) == (2, 2, "")
        assert info["start_cursor"]
        assert world.get("P/accounts", server, env="production").json == {
            "data": [],
            "page_info": {"count": 0, "total_count": 0, "start_cursor": "", "end_cursor": ""},
        }

    def test_filters(self, world: Any, server: str, own_client: str) -> None:
        one, two = world.plant("alice"), world.plant("bob")
        three = oauth_account(world, own_client)
        app = world.service.catalog.app("tinykeys")

        def ids(**query: str) -> set[str]:
            answer = world.get("P/accounts", server, query_string=query).json
            assert answer["page_info"]["total_count"] == len(answer["data"])
            return {account["id"] for account in answer["data"]}

        assert ids() == {one.id, two.id, three.id}
        assert ids(external_user_id="alice") == {one.id, three.id}
        assert (
            ids(app="tinykeys") == ids(app=app.id) == ids(app_id=app.id) == ids(app_id="tinykeys") == {one.id, two.id}
        )
        assert ids(oauth_app_id=own_client) == {three.id}
        assert ids(external_user_id="alice", app="tinykeys") == {one.id}
        assert ids(app="nothing") == ids(external_user_id="carol") == set()
        assert ids(unknown="x") == {one.id, two.id, three.id}

    def test_a_frontend_lists_its_own_user(self, world: Any) -> None:
        mine = world.plant("alice")
        world.plant("bob")
        token = world.frontend("alice")
        for query in ("", "?external_user_id=alice"):
            assert [one["id"] for one in world.get(f"P/accounts{query}", token).json["data"]] == [mine.id]
        assert world.get("P/accounts?external_user_id=bob", token).status_code == 403

    def test_pages_are_stable_while_accounts_are_added(self, world: Any, server: str) -> None:
        planted = []
        for _ in range(5):
            world.clock.advance(1)
            planted.append(world.plant().id)
        seen, cursor = [], ""
        while True:
            page = world.get(f"P/accounts?limit=2&after={cursor}", server).json
            seen += [account["id"] for account in page["data"]]
            cursor = page["page_info"]["end_cursor"]
            if not cursor:
                break
            world.clock.advance(1)
            planted += [world.plant().id] if len(planted) < 7 else []
        assert seen == planted

    def test_before_and_ranges(self, world: Any, server: str) -> None:
        planted: list[str] = []
        starts: list[str] = []
        for _ in range(5):
            world.clock.advance(1)
            planted.append(world.plant().id)
        for index in range(5):
            after = f"&after={starts[-1]}" if starts else ""
            page = world.get(f"P/accounts?limit=1{after}", server).json
            assert page["data"][0]["id"] == planted[index]
            starts.append(page["page_info"]["start_cursor"])

        def ids(query: str) -> list[str]:
            return [one["id"] for one in world.get(f"P/accounts?{query}", server).json["data"]]

        assert ids(f"limit=2&before={starts[3]}") == planted[1:3]
        assert ids(f"after={starts[0]}&before={starts[3]}") == planted[1:3]
        assert ids(f"limit=1&after={starts[0]}&before={starts[3]}") == planted[1:2]

    def test_a_foreign_cursor_is_400(self, world: Any, server: str) -> None:
        world.plant(), world.plant()
        cursor = world.get("P/accounts?limit=1", server).json["page_info"]["end_cursor"]
        for query in (f"app=tinykeys&after={cursor}", f"external_user_id=alice&before={cursor}"):
            assert world.get(f"P/accounts?{query}", server).status_code == 400
        assert world.get(f"P/accounts?after={cursor}", server, env="production").status_code == 400
        assert world.get(f"/v1/connect/projects?after={cursor}", server).status_code == 400


class TestOfUser:
    def test_a_bare_array(self, world: Any, server: str) -> None:
        mine = world.plant("team/a b")
        world.plant("bob")
        path = "P/users/team%2Fa%20b/accounts"
        assert [account["id"] for account in world.get(path, server).json] == [mine.id]
        assert world.get("P/users/nobody/accounts", server).json == []
        assert world.get(path, world.frontend("team/a b")).json[0]["id"] == mine.id
        assert world.get(path, world.frontend("bob")).status_code == 403


class TestCredentials:
    def test_those_of_the_developers_own_client_go_to_a_server(self, world: Any, server: str, own_client: str) -> None:
        account = oauth_account(world, own_client)
        found = world.get(f"P/accounts/{account.id}?include_credentials=true", server)
        assert found.json["credentials"] == {
            "oauth_client_id": "dev-client",
            "oauth_access_token": "canary-access-1",
            "oauth_refresh_token": "canary-refresh",
            "oauth_uid": "u-1",
        }
        listed = world.get("P/accounts?include_credentials=true", server).json["data"][0]
        of_user = world.get("P/users/alice/accounts?include_credentials=true", server).json[0]
        assert listed["credentials"] == of_user["credentials"] == found.json["credentials"]

    def test_all_others_stay_here(self, world: Any, server: str, own_client: str) -> None:
        installation = oauth_apps.add(world.service, app="tinyoauth", client_id="op", client_secret="s")
        other = projects.create(world.service, name="Other")
        theirs = oauth_apps.add(world.service, app="tinyoauth", client_id="x", client_secret="s", project_id=other.id)
        hidden = [world.plant(), *(oauth_account(world, one) for one in (installation.id, theirs.id, "oa_gone"))]
        for account in hidden:
            answer = world.get(f"P/accounts/{account.id}?include_credentials=true", server)
            assert answer.status_code == 200 and "credentials" not in answer.json

    def test_they_are_shown_only_when_asked_for(self, world: Any, server: str, own_client: str) -> None:
        account = oauth_account(world, own_client)
        for query in ("", "?include_credentials=false", "?extensions=true"):
            for path in (f"P/accounts/{account.id}", "P/accounts", "P/users/alice/accounts"):
                assert CANARY not in world.get(path + query, server).text

    def test_a_frontend_never_gets_them(self, world: Any, own_client: str) -> None:
        account = oauth_account(world, own_client)
        for path in (f"P/accounts/{account.id}", "P/accounts", "P/users/alice/accounts", "P/accounts/apn_none"):
            answer = world.get(f"{path}?include_credentials=true", world.frontend())
            assert answer.status_code == 403 and CANARY not in answer.text

    def test_a_token_about_to_expire_is_refreshed_first(
        self, world: Any, server: str, own_client: str, provider: Any
    ) -> None:
        account = oauth_account(world, own_client, expires_at=world.clock() + 5 * SECOND)
        found = world.get(f"P/accounts/{account.id}?include_credentials=true", server).json
        assert found["credentials"]["oauth_access_token"] == "canary-access-2"
        assert found["expires_at"] == iso(world.clock() + 3600 * SECOND)
        assert provider.calls == ["/token"]

    def test_a_provider_that_is_down_leaves_what_is_known(
        self, world: Any, server: str, own_client: str, provider: Any
    ) -> None:
        provider.down = True
        account = oauth_account(world, own_client, expires_at=world.clock() - MINUTE)
        answer = world.get(f"P/accounts/{account.id}?include_credentials=true", server)
        assert answer.status_code == 200
        assert (answer.json["healthy"], answer.json["dead"]) == (False, False) and answer.json["error"]
        assert answer.json["credentials"]["oauth_access_token"] == "canary-access-1"


class TestRemove:
    def test_204_and_gone(self, world: Any, server: str) -> None:
        account = world.plant()
        answer = world.call("DELETE", f"P/accounts/{account.id}", server)
        assert (answer.status_code, answer.data) == (204, b"")
        assert "Content-Type" not in answer.headers
        assert world.get(f"P/accounts/{account.id}", server).status_code == 404
        assert world.call("DELETE", f"P/accounts/{account.id}", server).status_code == 404
        assert world.get("P/accounts", server).json["page_info"]["total_count"] == 0

    def test_by_app(self, world: Any, server: str) -> None:
        world.plant("alice"), world.plant("bob")
        kept = oauth_account(world, None)
        app = world.service.catalog.app("tinykeys")
        assert world.call("DELETE", "P/apps/nothing/accounts", server).status_code == 404
        assert world.call("DELETE", f"P/apps/{app.id}/accounts", server).status_code == 204
        assert [one["id"] for one in world.get("P/accounts", server).json["data"]] == [kept.id]

    def test_by_app_touches_one_user_when_one_is_named(self, world: Any, server: str) -> None:
        world.plant("alice")
        bobs, carols = world.plant("bob"), world.plant("carol")
        assert world.call("DELETE", "P/apps/tinykeys/accounts", world.frontend("alice")).status_code == 204
        for user in ("carol", "nobody"):
            assert world.call("DELETE", f"P/apps/tinykeys/accounts?external_user_id={user}", server).status_code == 204
        left = {one["id"] for one in world.get("P/accounts", server).json["data"]}
        assert left == {bobs.id} and carols.id not in left
        token = world.frontend("alice")
        assert world.call("DELETE", "P/apps/tinykeys/accounts?external_user_id=bob", token).status_code == 403
