"""The history of runs: whose it is, what it keeps and what it never does."""

from typing import Any

import pytest

from webapp.kit.clock import DAY
from webapp.service.components.masking import MASK
from webapp.service.domain.components import runs

SECRET = "canary-secret-prop"


@pytest.fixture
def fail(world: Any) -> Any:
    """Runs the component that always fails."""

    def run(user: str = "alice", token: str = SECRET) -> Any:
        body = {"id": "~/fail", "external_user_id": user, "configured_props": {"token": token}}
        assert world.post("P/actions/run", world.server(), json=body).status_code == 200
        world.clock.advance(1000)

    return run


def test_a_run_is_kept_without_its_secret(world: Any, fail: Any) -> None:
    fail()
    (item,) = world.get("P/runs", world.frontend()).json["data"]
    assert item["error"] == f"It failed with {MASK}."
    assert (item["component_key"], item["ok"], item["external_user_id"]) == ("~/fail", False, "alice")
    answer = world.get(f"P/runs/{item['id']}", world.frontend())
    found = answer.json["data"]
    assert found["configured_props"] == {"token": None} and found["masked_props"] == ["token"]
    assert [one["k"] for one in found["os"]] == ["log", "error"]
    assert SECRET not in answer.text
    assert item.items() <= found.items()
    for row in world.service.store.all("SELECT * FROM runs"):
        assert all(SECRET.encode() not in bytes(value) for value in row.values() if isinstance(value, bytes))


def test_an_own_run_with_its_values_and_result(world: Any) -> None:
    label = {"__lv": {"label": "A", "value": "a"}}
    body = {"id": "~/every-type", "external_user_id": "alice", "configured_props": {"text": label}}
    ret = world.post("P/actions/run", world.frontend(), json=body).json["ret"]
    (item,) = world.get("P/runs?ok=true&app=tinykeys", world.frontend()).json["data"]
    found = world.get(f"P/runs/{item['id']}", world.frontend()).json["data"]
    assert (found["configured_props"], found["ret"]) == ({"text": label}, ret)


def test_filters_and_order(world: Any, fail: Any) -> None:
    for user in ("alice", "bob", "alice"):
        fail(user)
    server = world.server()

    def listed(query: str = "", token: str = server) -> list[str]:
        return [item["external_user_id"] for item in world.get(f"P/runs{query}", token).json["data"]]

    assert listed() == ["alice", "bob", "alice"]
    assert listed("?external_user_id=bob") == ["bob"]
    assert listed("?ok=true") == listed("?component_id=nothing") == listed("?app=tinykeys") == []
    assert listed("?component_id=~/fail&limit=2") == ["alice", "bob"]
    assert listed(token=world.frontend("bob")) == ["bob"]
    assert world.get("P/runs?external_user_id=alice", world.frontend("bob")).status_code == 403


def test_anothers_run_is_like_an_absent_one(world: Any, fail: Any) -> None:
    fail("bob")
    (item,) = world.get("P/runs", world.server()).json["data"]
    absent = world.get("P/runs/run_none", world.frontend())
    others = world.get(f"P/runs/{item['id']}", world.frontend())
    assert (absent.status_code, absent.data) == (others.status_code, others.data)
    assert world.get(f"P/runs/{item['id']}", world.server(), env="production").status_code == 404
    assert world.get(f"P/runs/{item['id']}", world.frontend("bob")).status_code == 200


def test_runs_are_forgotten_by_age_and_by_count(world: Any, fail: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("alice", "alice", "alice", "bob"):
        fail(user)
    monkeypatch.setattr(runs, "KEPT_PER_USER", 2)
    assert runs.purge(world.service) == 1
    assert world.get("P/runs", world.server()).json["page_info"]["total_count"] == 3
    world.clock.advance(31 * DAY)
    fail("carol")
    assert runs.purge(world.service) == 3
    assert [item["external_user_id"] for item in world.get("P/runs", world.server()).json["data"]] == ["carol"]


def test_a_result_that_is_too_large_is_not_kept(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_OUTPUT", 1000)
    body = {"id": "~/every-type", "external_user_id": "alice", "configured_props": {"texts": ["x" * 2000]}}
    assert world.post("P/actions/run", world.frontend(), json=body).json["ret"]["texts"] == ["x" * 2000]
    (item,) = world.get("P/runs", world.frontend()).json["data"]
    found = world.get(f"P/runs/{item['id']}", world.frontend()).json["data"]
    assert (found["truncated"], found["ret"]) == (True, None)
