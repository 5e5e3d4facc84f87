"""The extensions of an account: rename, test, revoke, uses, history."""

from typing import Any

import pytest

from webapp.kit.clock import iso
from webapp.service.domain.accounts import oauth_apps

OURS = {"identity", "last_checked_at", "next_check_at", "oauth_app_id", "scope_profile"}


@pytest.fixture
def server(world: Any) -> str:
    return str(world.server())


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
        assert good.status_code == 200 and set(good.json) >= OURS
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
