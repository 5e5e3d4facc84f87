"""What is kept of a call: its caller, user, outcome and shape, and no text."""

import json
from typing import Any

import pytest

from webapp.kit import crypto
from webapp.service.api.base.call_records import MAX_BODY
from webapp.service.domain.access import api_calls

SECRET = "canary-7f3a"


def kept(world: Any) -> list[dict[str, Any]]:
    api_calls.flush(world.service)
    rows: list[dict[str, Any]] = world.service.store.all("SELECT * FROM api_calls ORDER BY id")
    assert SECRET not in str(rows) and "ctok_" not in str(rows)
    return rows


def test_a_call_with_its_caller_user_and_outcome(world: Any) -> None:
    token = world.frontend("alice")
    body = {"id": "none", "external_user_id": "alice", "configured_props": {"text": SECRET}}
    answer = world.post("P/actions/run", token, json=body)
    (row,) = kept(world)
    assert (row["method"], row["status"], row["ok"], row["error"]) == ("POST", 404, 0, answer.get_json()["error"])
    assert (row["caller_kind"], row["external_id"]) == ("user", "alice")
    assert json.loads(row["body"]) == {**body, "configured_props": {"text": "…"}}
    assert (row["request_id"], row["environment"]) == (answer.headers["X-Request-Id"], "development")


def test_the_user_whom_a_server_names(world: Any) -> None:
    server = world.server()
    world.get("P/accounts?external_user_id=alice&limit=5", server)
    world.get("P/users/bob/accounts", server)
    world.call("POST", "P/triggers/deploy", server, json={"id": "none", "external_user_id": "carol"})
    assert [row["external_id"] for row in kept(world)] == ["alice", "bob", "carol"]
    assert kept(world)[0]["address"].endswith("/accounts?external_user_id=alice&limit=5")


@pytest.mark.parametrize("query", [f"q={SECRET}", "q=%00", "q=%ff"])
def test_typed_words_and_broken_ones_are_not_kept(world: Any, query: str) -> None:
    world.get(f"P/components?{query}", world.server())
    for row in kept(world):
        assert row["address"].partition("?")[2] in ("q=…", "")


def test_the_target_of_a_proxied_call_is_not_kept(world: Any) -> None:
    world.get(f"P/proxy/aHR0cHM6Ly9{SECRET}?external_user_id=alice&account_id=apn_1", world.server())
    (row,) = kept(world)
    assert "/proxy/…?" in row["address"] and row["error"] is None


def test_a_large_body_leaves_its_names(world: Any) -> None:
    world.post("P/actions/run", world.server(), json={"id": "x" * (MAX_BODY + 1), "external_user_id": "alice"})
    assert json.loads(kept(world)[0]["body"]) == {"id": "…", "external_user_id": "…"}


def test_calls_without_a_project_or_a_valid_token_are_not_kept(world: Any) -> None:
    world.get("/v1/connect/apps", world.server())
    world.get("P/accounts", "nobody")
    assert kept(world) == []


def test_of_our_pages_changes_and_failures_are_kept(world: Any) -> None:
    server, ours = world.server(), {"environ_overrides": {crypto.REQUEST_ENVIRON: "req_1"}}
    world.get("P/accounts", server, **ours)
    world.post("P/tokens", server, json={"external_user_id": "alice"}, **ours)
    file = world.post("P/file_stash", server, query_string={"external_user_id": "alice"}, data=b"hello", **ours)
    path = f"P/file_stash/{file.json['id']}"
    world.call("DELETE", path, server, **ours)
    assert kept(world) == []
    assert world.call("DELETE", path, server, **ours).status_code == 404
    (again,) = kept(world)
    assert again["method"] == "DELETE"
    world.get("P/accounts/apn_none", server, **ours)
    world.call("PUT", "P/webhook", server, json={"url": "https://a.example"}, **ours)
    _, failed, changed = kept(world)
    assert (failed["method"], failed["ok"], changed["method"]) == ("GET", 0, "PUT")
