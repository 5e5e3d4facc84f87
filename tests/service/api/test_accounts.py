"""Accounts over the API: shapes, filters and credentials; connecting by key against a real provider, or on a page of
the Connect Link; rename, test, revoke, uses and history; and removing.
"""

import json
import re
from typing import Any

import pytest

from webapp.kit.clock import MINUTE, SECOND, iso
from webapp.service.domain.access import callers
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

GOOD, CANARY = {"api_key": "canary-good-key"}, "canary"
SHAPE = {
    "id", "name", "external_id", "healthy", "dead", "app", "created_at", "updated_at", "authorized_scopes", "error",
    "last_refreshed_at", "next_refresh_at",
}  # fmt: skip
OURS = {"identity", "last_checked_at", "next_check_at", "oauth_app_id", "scope_profile", "available"}
PATH = "P/link_sessions"
EXTENSIONS = {"identity", "last_checked_at", "next_check_at", "oauth_app_id", "scope_profile"}


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


class TestCreate:
    def body(self, token: str, **changes: Any) -> dict[str, Any]:
        return {"app_slug": "tinykeys", "cfmap_json": json.dumps(GOOD), "connect_token": token, **changes}

    def test_a_key_that_works(self, world: Any, server: str, provider: Any) -> None:
        answer = world.post("P/accounts", server, json=self.body(world.frontend(), name="Work", extra=True))
        assert answer.status_code == 200 and set(answer.json) == SHAPE
        assert (answer.json["name"], answer.json["external_id"], answer.json["healthy"]) == ("Work", "alice", True)
        assert re.fullmatch(r"apn_[a-zA-Z0-9]+", answer.json["id"])
        assert provider.calls and CANARY not in answer.text
        shown = world.get(f"P/accounts/{answer.json['id']}?extensions=true", server).json
        assert shown["identity"] == {"id": "u-1", "name": "Ada"}

    def test_an_account_that_nobody_names_is_called_by_its_identity(self, world: Any, server: str) -> None:
        first, second = (world.post("P/accounts", server, json=self.body(world.frontend())).json for _ in range(2))
        assert (first["name"], second["name"]) == ("Ada", "Ada (2)")

    def test_a_frontend_connects_for_its_own_user(self, world: Any) -> None:
        token = world.frontend("alice")
        assert world.post("/v1/connect/accounts", token, json=self.body(token)).json["external_id"] == "alice"
        other = world.post("/v1/connect/accounts", token, json=self.body(world.frontend("bob")))
        assert other.status_code == 403

    def test_whoever_names_the_user_again_names_the_same(self, world: Any, server: str) -> None:
        alices, path = world.frontend("alice"), "P/accounts?external_user_id="
        for token in (server, alices):
            answer = world.post(f"{path}bob", token, json=self.body(alices))
            assert (answer.status_code, answer.json) == (403, {"error": callers.OF_ANOTHER_USER})
        assert world.get("P/accounts", server).json["data"] == []
        assert world.post(f"{path}alice", server, json=self.body(alices)).json["external_id"] == "alice"

    def test_a_key_that_is_refused_connects_nothing(self, world: Any, server: str) -> None:
        wrong = json.dumps({"api_key": "canary-wrong"})
        answer = world.post("P/accounts", server, json=self.body(world.frontend(), cfmap_json=wrong))
        assert answer.status_code == 400 and CANARY not in answer.text
        assert world.get("P/accounts", server).json["data"] == []

    def test_what_is_refused_is_told_to_the_tokens_webhook(self, world: Any, server: str, provider: Any) -> None:
        token = world.frontend(webhook_uri="https://app.example/told")
        wrong = json.dumps({"api_key": "canary-wrong"})
        world.post("P/accounts", server, json=self.body(token, cfmap_json=wrong))
        provider.down = True
        world.post("P/accounts", server, json=self.body(token))
        world.post("P/accounts", server, json=self.body(token, cfmap_json="{}"))  # a form that is not filled in
        kinds = [row["kind"] for row in world.service.store.all("SELECT kind FROM events")]
        assert kinds == ["CONNECTION_ERROR"] * 2

    def test_a_provider_that_is_down_is_502(self, world: Any, server: str, provider: Any) -> None:
        provider.down = True
        answer = world.post("P/accounts", server, json=self.body(world.frontend()))
        assert answer.status_code == 502 and answer.json["error"].endswith(".")

    def test_reconnecting_keeps_the_id(self, world: Any, server: str) -> None:
        account = world.plant("alice", healthy=False, dead=True, error="Refused.", values={"api_key": "old"})
        body = self.body(world.frontend(), account_id=account.id)
        answer = world.post("P/accounts", server, json=body).json
        assert (answer["id"], answer["dead"], answer["healthy"], answer["error"]) == (account.id, False, True, None)

    def test_reconnecting_anothers_is_like_an_absent_one(self, world: Any, server: str) -> None:
        bobs, other_app = world.plant("bob"), world.plant("alice", "tinyoauth")
        answers = [
            world.post("P/accounts", server, json=self.body(world.frontend("alice"), account_id=account_id))
            for account_id in (bobs.id, other_app.id, "apn_none")
        ]
        assert {(answer.status_code, answer.data) for answer in answers} == {(404, answers[-1].data)}

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("app_slug", None), ("app_slug", 1), ("app_slug", "nothing"), ("app_slug", "tinyoauth"),
            ("cfmap_json", None), ("cfmap_json", {"api_key": "x"}), ("cfmap_json", "{"), ("cfmap_json", "[]"),
            ("cfmap_json", "[" * 10_000), ("cfmap_json", '{"api_key": ["x"]}'), ("cfmap_json", '{"api_key": true}'),
            ("connect_token", None), ("connect_token", "garbage"), ("connect_token", "ctok_" + "0" * 32),
            ("name", 5), ("name", "x" * 201), ("name", "a\nb"), ("account_id", 5),
        ],
    )  # fmt: skip
    def test_what_is_refused_names_the_field(self, shared: Any, field: str, value: Any) -> None:
        body = self.body(shared.frontend(), **{field: value})
        answer = shared.post("P/accounts", shared.server(), json=body)
        assert answer.status_code == 400
        assert {detail["field"].split(".")[0] for detail in answer.json["details"]} == {field}

    @pytest.mark.parametrize(
        ("values", "field"),
        [({}, "api_key"), ({"api_key": " "}, "api_key"), ({"api_key": "a\0b"}, "api_key"),
         ({"api_key": "\ud800"}, "api_key"), ({"api_key": "x" * 20_001}, "api_key"),
         ({"api_key": "k", "region": "mars"}, "region")],
    )  # fmt: skip
    def test_what_is_refused_in_the_map_names_its_field(self, shared: Any, values: Any, field: str) -> None:
        body = self.body(shared.frontend(), cfmap_json=json.dumps(values))
        answer = shared.post("P/accounts", shared.server(), json=body)
        assert answer.status_code == 400
        assert [detail["field"].removeprefix("cfmap_json.") for detail in answer.json["details"]] == [field]

    def test_a_token_of_another_scene_is_refused(self, world: Any, server: str) -> None:
        other = Scene(projects.create(world.service, name="Other").id, "development")
        for scene in (other, Scene(world.scene.project_id, "production")):
            answer = world.post("P/accounts", server, json=self.body(world.frontend(scene=scene)))
            assert answer.status_code == 400
            assert [detail["field"] for detail in answer.json["details"]] == ["connect_token"]

    def test_an_expired_token_is_refused(self, world: Any, server: str) -> None:
        token = world.frontend(expires_in=1)
        world.clock.advance(SECOND)
        assert world.post("P/accounts", server, json=self.body(token)).status_code == 400


@pytest.fixture
def body_of_link_sessions(shared: Any) -> dict[str, Any]:
    public = shared.service.settings.public_url
    return {"success_redirect_uri": f"{public}/done?a=1", "error_redirect_uri": f"{public}/back", "app": "tinykeys"}


def test_the_token_itself_makes_one(shared: Any, body_of_link_sessions: dict[str, Any]) -> None:
    token = shared.frontend(scope="connect:accounts:write")
    answer = shared.post(PATH, token, json=body_of_link_sessions)
    assert answer.status_code == 200 and set(answer.json) == {"url", "expires_at"}
    assert answer.json["url"].startswith(f"{shared.service.settings.public_url}/_static/connect/ls_")
    assert token not in answer.text


def test_a_server_names_the_user_by_a_token(shared: Any, body_of_link_sessions: dict[str, Any]) -> None:
    server = shared.server()
    assert (
        shared.post(PATH, server, json={**body_of_link_sessions, "connect_token": shared.frontend()}).status_code == 200
    )
    refused = shared.post(PATH, server, json=body_of_link_sessions)
    assert refused.status_code == 400 and refused.json["details"][0]["field"] == "connect_token"


def test_nobody_else_is_named(shared: Any, body_of_link_sessions: dict[str, Any]) -> None:
    other = {**body_of_link_sessions, "connect_token": shared.frontend("bob")}
    assert shared.post(PATH, shared.frontend(), json=other).status_code == 403


def test_a_token_that_may_only_read_makes_none(shared: Any, body_of_link_sessions: dict[str, Any]) -> None:
    assert (
        shared.post(PATH, shared.frontend(scope="connect:accounts:read"), json=body_of_link_sessions).status_code == 403
    )


@pytest.mark.parametrize(
    "uri", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/apps", "{public}.evil.example/", "[",
            "{public}@evil.example/", "{public}/\\x", "{public}/\n"],
)  # fmt: skip
def test_it_leads_nowhere_but_back_to_us(shared: Any, body_of_link_sessions: dict[str, Any], uri: str) -> None:
    token = shared.frontend()
    for name in ("success_redirect_uri", "error_redirect_uri"):
        wrong = {**body_of_link_sessions, name: uri.format(public=shared.service.settings.public_url)}
        answer = shared.post(PATH, token, json=wrong)
        assert answer.status_code == 400 and answer.json["details"][0]["field"] == name


class TestRename:
    def test_a_name_and_its_identity_again(self, world: Any, server: str) -> None:
        account = world.plant()
        answer = world.call("PATCH", f"P/accounts/{account.id}", server, json={"name": " Work "})
        assert answer.status_code == 200 and answer.json["name"] == "Work"
        assert world.call("PATCH", f"P/accounts/{account.id}", server, json={"name": None}).json["name"] == "Ada"

    @pytest.mark.parametrize("body", [{}, {"name": 5}, {"name": ["x"]}, {"name": "x" * 201}, {"name": "a\tb"}])
    def test_what_is_refused(self, world: Any, server: str, body: dict[str, Any]) -> None:
        answer = world.call("PATCH", f"P/accounts/{world.plant().id}", server, json=body)
        assert answer.status_code == 400
        assert [detail["field"] for detail in answer.json["details"]] == ["name"]


class TestTest:
    def test_what_was_found_stands_in_the_account(self, world: Any, server: str, provider: Any) -> None:
        account = world.plant()
        url = f"P/accounts/{account.id}/test"
        world.clock.advance(1000)
        good = world.post(url, server)
        assert good.status_code == 200 and set(good.json) >= EXTENSIONS
        assert (good.json["healthy"], good.json["last_checked_at"]) == (True, iso(world.clock()))
        provider.down = True
        trouble = world.post(url, server)
        assert trouble.status_code == 200
        assert (trouble.json["healthy"], trouble.json["dead"]) == (False, False) and trouble.json["error"]
        provider.down = False
        assert world.post(url, world.frontend()).json["healthy"] is True

    def test_a_refused_key_needs_its_person(self, world: Any, server: str) -> None:
        account = world.plant(values={"api_key": "canary-wrong"})
        answer = world.post(f"P/accounts/{account.id}/test", server)
        assert (answer.json["healthy"], answer.json["dead"]) == (False, True)
        assert answer.json["error"] and "canary" not in answer.text


class TestRevoke:
    def test_where_the_provider_can(self, world: Any, server: str, provider: Any) -> None:
        client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
        values = {"oauth_access_token": "canary-access-1", "oauth_refresh_token": "canary-refresh"}
        account = world.plant("alice", "tinyoauth", oauth_app_id=client.id, values=values)
        answer = world.post(f"P/accounts/{account.id}/revoke", server)
        assert answer.status_code == 200 and answer.json["dead"] is True
        assert provider.calls == ["/revoke"]
        assert world.post(f"P/accounts/{account.id}/revoke", server).status_code == 409

    def test_where_it_cannot(self, world: Any, server: str) -> None:
        answer = world.post(f"P/accounts/{world.plant().id}/revoke", server)
        assert answer.status_code == 409 and answer.json["error"].endswith(".")

    def test_where_it_is_down(self, world: Any, server: str, provider: Any) -> None:
        provider.down = True
        client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
        account = world.plant(
            "alice", "tinyoauth", oauth_app_id=client.id, values={"oauth_access_token": "canary-access-1"}
        )
        assert world.post(f"P/accounts/{account.id}/revoke", server).status_code == 502


def test_nothing_uses_an_account_yet(world: Any, server: str) -> None:
    answer = world.get(f"P/accounts/{world.plant().id}/uses", server).json
    assert answer["data"] == [] and answer["page_info"]["total_count"] == 0


class TestHistory:
    def test_newest_first_in_pages(self, world: Any, server: str) -> None:
        account = world.plant()
        for name in ("One", "Two", "Three"):
            world.clock.advance(1)
            world.call("PATCH", f"P/accounts/{account.id}", server, json={"name": name})
        first = world.get(f"P/accounts/{account.id}/history?limit=2", server).json
        assert [entry["sentence"] for entry in first["data"]] == ["Renamed to “Three”.", "Renamed to “Two”."]
        assert set(first["data"][0]) == {"id", "account_id", "trigger_id", "app", "at", "kind", "good", "sentence"}
        assert first["page_info"]["total_count"] == 3
        cursor = first["page_info"]["end_cursor"]
        rest = world.get(f"P/accounts/{account.id}/history?after={cursor}", server).json
        assert [entry["sentence"] for entry in rest["data"]] == ["Renamed to “One”."]
        other = world.plant()
        assert world.get(f"P/accounts/{other.id}/history?after={cursor}", server).status_code == 400
