"""Connecting an account by its keys over the API."""

import json
import re
from typing import Any

import pytest

from webapp.kit.clock import SECOND
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

GOOD, CANARY = {"api_key": "canary-good-key"}, "canary"

SHAPE = {
    "id", "name", "external_id", "healthy", "dead", "app", "created_at", "updated_at", "authorized_scopes", "error",
    "last_refreshed_at", "next_refresh_at",
}  # fmt: skip


@pytest.fixture
def server(world: Any) -> str:
    return str(world.server())


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
