"""Who speaks in which revision: sessions that any process understands, and requests that say it all."""

from typing import Any

import pytest
from werkzeug.datastructures import Headers

from webapp.kit.cursors import Window
from webapp.service.domain.components import runs
from webapp.service.mcp import clients, protocol


@pytest.mark.parametrize("revision", protocol.HANDSHAKES)
def test_an_older_client_begins_a_session_that_any_process_understands(world: Any, revision: str) -> None:
    from mcp_types.methods import validate_server_result

    agent = world.agent().begin(revision)
    tools = agent.post("tools/list").get_json()["result"]
    validate_server_result("tools/list", revision, tools)
    assert agent.post("ping").get_json()["result"] == {}
    called = agent.post("tools/call", {"name": "every_type", "arguments": {"number": 3}})
    validate_server_result("tools/call", revision, called.get_json()["result"])
    assert agent.post("ping", **{"mcp-session-id": "broken"}).status_code == 404


def test_what_a_session_says_of_its_client_stands_in_the_history(world: Any) -> None:
    world.agent().begin().post("tools/call", {"name": "every_type", "arguments": {}})
    world.agent().post("tools/call", {"name": "every_type"})
    agents = [run.agent for run in runs.page(world.service.store, world.scene, runs.Filter(), Window()).items]
    assert sorted(map(str, agents)) == ["An agent without a name", "old-robot"]


def test_an_unknown_revision_is_answered_with_the_newest_that_begins_so(world: Any) -> None:
    hello = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    answer = world.agent().post("initialize", hello)
    assert answer.get_json()["result"]["protocolVersion"] == "2025-11-25"
    future = world.agent().send("tools/list", {"_meta": {protocol.REVISION_KEY: "2099-01-01"}})
    assert future.get_json()["error"]["code"] == protocol.HEADER_MISMATCH


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"mcp-method": "tools/call"}, protocol.HEADER_MISMATCH),
        ({"mcp-protocol-version": "2025-11-24"}, protocol.HEADER_MISMATCH),
    ],
)
def test_headers_say_what_the_body_says(world: Any, headers: dict[str, str], code: int) -> None:
    answer = world.agent().send("tools/list", **headers)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, code)


def test_a_name_beyond_ascii_comes_encoded(world: Any) -> None:
    agent = world.agent()
    for header, code in (("=?base64?YcOk?=", protocol.INVALID_PARAMS), ("=?base64?!?=", protocol.HEADER_MISMATCH)):
        answer = agent.send("tools/call", {"name": "aä", "arguments": {}}, **{"mcp-name": header})
        assert answer.get_json()["error"]["code"] == code


def test_what_a_modern_request_leaves_out_is_named(world: Any) -> None:
    agent = world.agent()
    answer = agent.post("tools/list", **{"mcp-protocol-version": protocol.MODERN, "mcp-method": "tools/list"})
    assert protocol.CAPABILITIES_KEY in answer.get_json()["error"]["message"] and answer.status_code == 400


def test_a_session_of_one_person_is_another_conversation_for_anybody_else(world: Any) -> None:
    headers = Headers({"mcp-session-id": clients.begin(world.service, {})[1]})
    cancel = protocol.Message(None, "notifications/cancelled", {"requestId": 1})
    names = [clients.read(world.service, headers, cancel, user).session for user in ("alice", "bob", "alice")]
    assert names[0] == names[2] != names[1]
