"""What a piece on the real framework may have, through the API: each kind of prop and account, each call of its context
either does what it is for or is refused by its name."""

from typing import Any

import pytest

from tests.peers.pieces.conftest import Ours

pytestmark = pytest.mark.peer

ACCOUNTS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "workbench": (
        {"oauth_access_token": "token-alice", "tenant": "acme"},
        {"type": "OAUTH2", "access_token": "token-alice", "props": {"tenant": "acme"}},
    ),
    "workbench_api_key": ({"api_key": "key-alice"}, {"type": "SECRET_TEXT", "secret_text": "key-alice"}),
    "workbench_user_and_password": (
        {"username": "alice", "password": "secret"},
        {"type": "BASIC_AUTH", "username": "alice", "password": "secret"},
    ),
    "workbench_token": (
        {"token": "token-alice", "region": "us", "sandbox": "true", "limit": "3"},
        {"type": "CUSTOM_AUTH", "props": {"token": "token-alice", "region": "us", "sandbox": True, "limit": 3}},
    ),
}
LEFT_OUT = {"List flows", "Use agent", "Wait"}
REFUSED = {
    "flows.list": "a list of flows",
    "agent.tools": "agents",
    "run.createWaitpoint": "a flow that waits",
    "run.waitForWaitpoint": "a flow that waits",
    "run.pause": "a flow that waits",
    "tags.add": "tags of runs",
    "generateResumeUrl": "a flow that waits",
}
VALUES = {
    "short": "a", "long": "b\nc", "number": "2.5", "tick": True, "day": "2026-01-02T03:04:05Z", "colour": "#ff0000",
    "one": "red", "several": ["red", "green"], "table": "t0", "views": ['json:{"id":"v1","name":"All"}'],
    "words": ["x", "y"], "rows": [{"key": "k", "count": 3}], "object": {"a": 1}, "json": "[1, 2]",
    "cells__title": "T", "cells__urgent": True, "cells__tags": ["t"], "shape": '{"sides": 3}',
}  # fmt: skip


@pytest.fixture
def api_key(ours: Ours) -> dict[str, str]:
    return ours.bench.account("alice", "workbench_api_key", {"api_key": "key-alice"})


def test_what_needs_more_than_there_is_is_left_out_with_a_reason(ours: Ours) -> None:
    plan = ours.bench.plans["@patchbay-tests/piece-workbench"]
    assert {name for name, _, _ in plan.left_out} == LEFT_OUT
    assert all(kind == "action" and reason.endswith(".") for _, kind, reason in plan.left_out)
    assert (len(plan.actions), len(plan.triggers), plan.apps) == (14, 7, tuple(ACCOUNTS))


@pytest.mark.parametrize("app", ACCOUNTS)
def test_each_kind_of_account_is_what_the_piece_takes(ours: Ours, app: str) -> None:
    values, expected = ACCOUNTS[app]
    account = ours.bench.account("alice", app, values)
    result = ours.bench.run(f"{app}-get-me", "alice", {"workbench": account})["ret"]
    assert {name: result["account"].get(name) for name in expected} == expected
    assert (result["me"]["name"], result["me"]["team"]) == ("alice", "acme")


def test_each_kind_of_prop_arrives_as_the_piece_knows_it(ours: Ours, api_key: dict[str, str]) -> None:
    bench, key = ours.bench, "workbench_api_key-every-prop"
    account = {"workbench": api_key}
    tables = bench.ask("actions/configure", key, "alice", account, prop_name="table", query="peo")["options"]
    assert tables == [{"label": "People", "value": "t1"}]
    views = bench.ask("actions/configure", key, "alice", {**account, "table": "t0"}, prop_name="views")["options"]
    assert [view["label"] for view in views] == ["All", "Open"]
    reloaded = bench.ask("actions/props", key, "alice", {**account, "table": "t0"})["dynamicProps"]
    names = [prop["name"] for prop in reloaded["configurableProps"]]
    cells = [name for name in names if name.startswith("cells")]
    assert len(cells) == 6
    asked = {"prop_name": "cells__owner", "query": "gra", "dynamic_props_id": reloaded["id"]}
    (owner,) = bench.ask("actions/configure", key, "alice", {**account, "table": "t0"}, **asked)["options"]
    assert owner == {"label": "Grace", "value": 'json:{"id":"p2","name":"Grace"}'}
    values = {
        **account,
        **VALUES,
        cells[1]: "3.5",
        "cells__owner": owner["value"],
        "file": "https://api.workbench.example/public.txt",
    }
    result = bench.run(key, "alice", values, dynamic_props_id=reloaded["id"])
    propped = result["ret"]
    assert propped, result["os"]
    same = ("short", "long", "tick", "colour", "one", "several", "table", "words")
    assert {name: propped[name] for name in same} == {name: VALUES[name] for name in same}
    assert (propped["number"], propped["rows"], propped["json"]) == (2.5, [{"key": "k", "count": 3}], [1, 2])
    assert (propped["views"], propped["object"]) == ([{"id": "v1", "name": "All"}], {"a": 1})
    assert propped["day"].startswith("2026-01-02T03:04:05")
    assert (propped["shape"], propped["cells"].pop("owner")) == ({"sides": 3}, {"id": "p2", "name": "Grace"})
    assert propped["cells"] == {"title": "T", "amount": 3.5, "urgent": True, "tags": ["t"]}
    assert propped["file"] == {"filename": "public.txt", "extension": "txt", "base64": "Zm9yIGV2ZXJ5Ym9keQ=="}


def test_what_it_stores_writes_and_tells(ours: Ours, api_key: dict[str, str]) -> None:
    def run(name: str, **values: Any) -> dict[str, Any]:
        return ours.bench.run(f"workbench_api_key-{name}", "alice", {"workbench": api_key, **values})

    kept = {
        "before": [None, None],
        "kept": ["of the flow", {"of": "the project"}],
        "after": [None, {"of": "the project"}],
    }
    assert run("keep", key="k")["ret"] == kept
    assert run("keep", key="k")["ret"] == {**kept, "before": [None, {"of": "the project"}]}
    assert run("write-file")["ret"].endswith("note.txt")
    place = run("tell-place")
    assert place["os"][0]["msg"] == "It tells its place."
    assert place["ret"]["server"]["token"] == "" and place["ret"]["executionType"] == "BEGIN"
    assert run("respond")["exports"]["response"]["status"] == 201
    assert run("stop")["exports"]["response"] == {"status": 202, "body": "stopped", "headers": {}}
    assert run("get-connection", key="k")["ret"] is None
    assert run("call-context", path="output.update")["exports"] == {"output": {}}


@pytest.mark.parametrize("path", REFUSED)
def test_a_call_that_there_is_nothing_for_is_refused_by_its_name(
    ours: Ours, api_key: dict[str, str], path: str
) -> None:
    result = ours.bench.run("workbench_api_key-call-context", "alice", {"workbench": api_key, "path": path})
    assert f"needs {REFUSED[path]}, which there is none of here." in result["os"][-1]["err"]["message"]


@pytest.mark.parametrize("address", ["https://example.org/", "http://169.254.169.254/", "http://127.0.0.1:80/"])
def test_it_reaches_the_hosts_that_were_confirmed_and_no_others(
    ours: Ours, api_key: dict[str, str], address: str
) -> None:
    result = ours.bench.run("workbench_api_key-reach-elsewhere", "alice", {"workbench": api_key, "url": address})
    assert "is not among the hosts that this integration may reach" in result["os"][-1]["err"]["message"]


def test_its_failures_are_reported_and_end_with_the_call(ours: Ours, api_key: dict[str, str]) -> None:
    def run(name: str, **values: Any) -> str:
        result = ours.bench.run(f"workbench_api_key-{name}", "alice", {"workbench": api_key, **values})
        return str(result["os"][-1]["err"]["message"])

    assert "500" in run("fail", key="500")
    assert run("leave-rejection") == "Nobody waited for this."
    result = ours.bench.run("workbench_open-add", "alice", {"left": 1, "right": 2})
    assert result["ret"] == {"sum": 3, "auth": None}
