"""What stands around the tools: revisions, tokens, origins, pages and errors."""

from typing import Any

import pytest

from tests.service.mcp.conftest import Agent
from webapp.service.mcp import protocol

NOWHERE = {"code": protocol.INVALID_PARAMS, "message": "There is no such tool; look its name up in the list of tools."}


def test_a_modern_client_discovers_lists_and_calls(world: Any) -> None:
    for agent in (world.agent(), world.server_agent()):
        assert agent.ask("server/discover")["supportedVersions"] == [protocol.MODERN]
        assert "search_tools" in agent.tools()
        assert '"number":3' in agent.text("every_type", number=3)


def test_another_app_and_a_tool_that_is_not_there_answer_alike(world: Any) -> None:
    agent = world.agent(apps="tinyoauth")
    for name in ("make_task", "nothing"):
        answer = agent.send("tools/call", {"name": name, "arguments": {}})
        assert (answer.status_code, answer.get_json()["error"]) == (400, NOWHERE)
    assert agent.text("search_tools", query="task").startswith("No tool does that.")
    wrong = world.agent(apps="nowhere").send("tools/list")
    assert wrong.status_code == 400 and "x-pd-app-slug" in wrong.get_json()["error"]["message"]


def test_a_page_of_another_origin_is_refused(world: Any) -> None:
    agent, home = world.agent(), world.service.settings.public_url
    for caller in (agent, world.server_agent(), Agent(world.http, {"Authorization": "Bearer nonsense"})):
        forged = caller.post("ping", Origin="https://evil.example")
        assert forged.status_code == 403 and "Access-Control-Allow-Origin" not in forged.headers
    assert agent.post("ping", Origin=home).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"1.0","id":1,"method":"ping"}'],
)
def test_what_is_no_message_is_refused(world: Any, body: bytes) -> None:
    headers = {**world.agent().headers, "Content-Type": "application/json"}
    answer = world.http.post("/mcp", data=body, headers=headers)
    assert answer.status_code == 400 and answer.get_json()["error"]["code"] in (-32700, -32600)


def test_methods_and_values_that_the_revision_does_not_have(world: Any) -> None:
    agent = world.agent()
    missing = agent.send("ping")
    assert (missing.status_code, missing.get_json()["error"]["code"]) == (404, protocol.METHOD_NOT_FOUND)
    wrong = agent.send("tools/call", {"name": "every_type", "arguments": "many"})
    assert (wrong.status_code, wrong.get_json()["error"]["code"]) == (400, protocol.INVALID_PARAMS)
    note = world.http.post(
        "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=agent.headers
    )
    assert (note.status_code, note.data) == (202, b"")


def test_calls_count_towards_the_limits_of_the_api(world: Any) -> None:
    agent = world.agent()
    assert agent.send("tools/list").headers["X-RateLimit-Limit"] == "3000"
    assert agent.send("tools/call", {"name": "every_type"}).headers["X-RateLimit-Limit"] == "2000"
    assert agent.send("server/discover").headers.get("X-RateLimit-Limit") is None
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert agent.http.post("/mcp", json=cancelled, headers=agent.headers).headers["X-RateLimit-Limit"] == "3000"


def test_an_older_client_reads_errors_of_the_protocol_by_their_codes_only(world: Any) -> None:
    answer = world.agent().begin().post("tools/call", {"name": "nothing"})
    assert (answer.status_code, answer.get_json()["error"]) == (200, NOWHERE)
