"""App overrides: made, changed, listed, removed, and used to connect."""

import json
from typing import Any

import pytest

from tests.service.conftest import GOOD_KEY
from webapp.service.domain.accounts import accounts, credentials

NEW = {"app": "tinyoauth", "client_id": "abc", "client_secret": "canary-secret", "scopes": ["profile"]}


@pytest.fixture
def made(world: Any) -> Any:
    """A client of the project."""
    answer = world.post("P/oauth_apps", world.server(), json=NEW)
    assert answer.status_code == 200, answer.text
    return answer.json


EU = {"app": "tinykeys", "name": "EU", "cfmap": {"region": "us"}}


class TestOverrides:
    def test_a_name_is_found_whatever_its_case(self, world: Any) -> None:
        server = world.server()
        found = world.post("P/app_overrides", server, json={**EU, "name": "Ärzte"}).json
        for query in ("ärzte", "ÄRZT"):
            assert [one["id"] for one in world.get(f"P/app_overrides?q={query}", server).json["data"]] == [found["id"]]
        assert world.get("P/app_overrides?q=%25", server).json["data"] == []

    def test_made_changed_listed_and_removed(self, world: Any, made: Any) -> None:
        server = world.server()
        found = world.post("P/app_overrides", server, json=EU).json
        app = world.get("/v1/connect/apps/tinykeys", server).json["data"]
        assert found == {
            "id": found["id"], "name": "EU", "app": app, "oauth_app_id": None, "cfmap": {"region": "us"},
            "owner_id": world.scene.project_id, "created_at": found["created_at"], "updated_at": found["updated_at"],
        }  # fmt: skip
        one = f"P/app_overrides/{found['id']}"
        assert world.get(one, server).json == found
        changed = world.call("PUT", one, server, json={"name": "Europe"}).json
        assert (changed["name"], changed["cfmap"]) == ("Europe", {"region": "us"})
        world.clock.advance(1)
        oauth = {"app": "tinyoauth", "name": "Ours", "oauth_app_id": made["id"]}
        other = world.post("P/app_overrides", server, json=oauth).json
        assert other["oauth_app_id"] == made["id"] and other["cfmap"] == {}
        listed = world.get("P/app_overrides", server).json
        assert [item["id"] for item in listed["data"]] == [found["id"], other["id"]]
        assert [item["id"] for item in world.get("P/app_overrides?q=eur", server).json["data"]] == [found["id"]]
        assert [item["id"] for item in world.get("P/app_overrides?app=tinyoauth", server).json["data"]] == [other["id"]]
        assert world.call("DELETE", f"P/oauth_apps/{made['id']}", server).status_code == 409, "an override names it"
        assert world.call("PUT", f"P/app_overrides/{other['id']}", server, json={"oauth_app_id": ""}).status_code == 200
        assert world.call("DELETE", f"P/oauth_apps/{made['id']}", server).status_code == 204
        assert world.call("DELETE", one, server).status_code == 204
        assert world.get(one, server).status_code == 404

    @pytest.mark.parametrize(
        "change, field",
        [
            ({"app": "nothing"}, "app"), ({"name": " "}, "name"), ({"cfmap": {"api_key": "x"}}, "cfmap.api_key"),
            ({"cfmap": {"region": "moon"}}, "cfmap.region"), ({"cfmap": {"other": "x"}}, "cfmap.other"),
            ({"cfmap": {"region": ["eu"]}}, "cfmap.region"), ({"oauth_app_id": "oa_none"}, "oauth_app_id"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_preset_is_refused(self, shared: Any, change: Any, field: str) -> None:
        answer = shared.post("P/app_overrides", shared.server(), json=EU | change)
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, field)

    def test_a_name_is_taken_once(self, world: Any) -> None:
        server = world.server()
        assert world.post("P/app_overrides", server, json=EU).status_code == 200
        assert world.post("P/app_overrides", server, json=EU).status_code == 409

    def test_an_account_is_connected_with_preset_values(self, world: Any) -> None:
        override = world.post("P/app_overrides", world.server(), json=EU).json["id"]
        body = {"app_slug": "tinykeys", "connect_token": world.frontend(), "app_override_id": override,
                "cfmap_json": json.dumps({"api_key": GOOD_KEY, "region": "eu"})}  # fmt: skip
        connected = world.post("P/accounts", world.server(), json=body)
        assert connected.status_code == 200, connected.text
        account = accounts.get(world.service.store, world.scene, connected.json["id"])
        assert credentials.read(world.service, account)["region"] == "us"
        for wrong in ("aov_none", world.post("P/app_overrides", world.server(),
                                             json={"app": "tinyoauth", "name": "O"}).json["id"]):  # fmt: skip
            answer = world.post("P/accounts", world.server(), json=body | {"app_override_id": wrong})
            assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "app_override_id")
