"""The client of MCP servers: every way in which a server may answer, and what it may not do."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as reference
import pytest

from tests.fakes.mcp_server import ERASE, SEARCH, STREAM, McpServer, serving
from webapp.service.outbound import mcp
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.mcp import Handshake, McpClient, McpFailure, ToolList
from webapp.service.outbound.responses import Response

WAYS = [{}, {"answer": STREAM}, {"answer": STREAM, "hold": True}, {"sessions": False}, {"old": True}, {"modern": True}]
PROGRESS = {
    "jsonrpc": "2.0", "method": "notifications/progress",
    "params": {"progressToken": 2, "progress": 1, "total": 4, "message": "Reading"},
}  # fmt: skip
SAMPLING = {"jsonrpc": "2.0", "id": "s-1", "method": "sampling/createMessage", "params": {"messages": []}}


def client(server: McpServer, known: Handshake | None = None, **more: Any) -> McpClient:
    return McpClient(server.url, asker(server, **more), known, None)


def asker(server: McpServer, key: str = "", deadline_s: float = 10, max_bytes: int = 1 << 20) -> Any:
    outbound = OutboundClient(Guard([server.host]), user_agent="Patchbay-Test")

    def ask(
        method: str, headers: Mapping[str, str], body: bytes | None, watch: Any, url: str = ""
    ) -> Response | Failure:
        own = {"Authorization": f"Bearer {key}"} if key else {}
        return outbound.request(
            method, url or server.url, headers={**headers, **own}, data=body, watch=watch, deadline_s=deadline_s,
            max_bytes=max_bytes,
        )  # fmt: skip

    return ask


@pytest.mark.parametrize("manner", WAYS)
def test_tools_are_listed_and_called_however_a_server_answers(manner: dict[str, Any]) -> None:
    with serving(**manner) as server:
        speaker = client(server)
        shaken = speaker.begin()
        assert isinstance(shaken, Handshake)
        assert shaken.server["title"] == "Notes"
        assert speaker.tools() == ToolList((SEARCH, ERASE))
        result = speaker.call("search_notes", {"query": "tea", "limit": 3})
        assert result == {"content": [{"type": "text", "text": '{"limit": 3, "query": "tea"}'}]}
        assert speaker.ping() == {}
        speaker.end()
        assert server.sessions == set()


def test_what_is_sent_is_what_the_protocol_says() -> None:
    """Messages against the types of the revision, headers against "Session Management"."""
    with serving() as server:
        speaker = client(server)
        speaker.tools()
        speaker.call("search_notes", {"query": "tea"})
        initialize, initialized, listing, call = server.asked
        reference.InitializeRequest.model_validate(initialize.message)
        reference.InitializedNotification.model_validate(initialized.message)
        reference.ListToolsRequest.model_validate(listing.message)
        reference.CallToolRequest.model_validate(call.message)
        assert "mcp-session-id" not in initialize.headers
        for each in server.asked:
            assert each.headers["accept"] == "application/json, text/event-stream"
            assert each.headers["content-type"] == "application/json"
        for each in server.asked[1:]:
            assert each.headers["mcp-protocol-version"] == "2025-11-25"
            assert each.headers["mcp-session-id"] == "s1"


def test_without_a_handshake_each_message_says_the_revision() -> None:
    with serving(modern=True) as server:
        client(server).call("search_notes", {"query": "tea"})
        call = server.asked[-1]
        meta = call.message["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == call.headers["mcp-protocol-version"] == mcp.MODERN
        assert (call.headers["mcp-method"], call.headers["mcp-name"]) == ("tools/call", "search_notes")


def test_a_known_handshake_saves_requests_and_is_made_anew_once_it_is_forgotten() -> None:
    with serving() as server:
        speaker = client(server)
        speaker.begin()
        known, before = speaker.handshake, len(server.asked)
        assert isinstance(client(server, known).call("erase", {}), dict)
        assert len(server.asked) == before + 1
        server.sessions.clear()
        later = client(server, known)
        assert isinstance(later.call("erase", {}), dict)
        assert [each.message["method"] for each in server.asked[before + 1 :]] == [
            "tools/call", "initialize", "notifications/initialized", "tools/call",
        ]  # fmt: skip
        assert later.handshake != known


def test_pages_are_read_to_the_last_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "MOST_TOOLS", 7)
    tools = [{**ERASE, "name": f"tool-{number}"} for number in range(9)]
    with serving(tools=tools, page=3) as server:
        listed = client(server).tools()
        assert isinstance(listed, ToolList)
        assert [tool["name"] for tool in listed.tools] == [f"tool-{number}" for number in range(7)]
        assert listed.left_out == ("there are more than 7 tools", "there are more than 7 tools")


def test_a_list_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "MOST_PAGES", 5)
    with serving(results={"tools/list": {"tools": [], "nextCursor": "again"}}) as server:
        assert client(server).tools() == ToolList(())
        assert len(server.messages("tools/list")) == 5


def test_tools_that_make_no_sense_are_left_out_with_the_reason() -> None:
    tools = [
        SEARCH, {"title": "No name"}, {"name": "x" * 200, "inputSchema": {}}, {"name": "no schema"},
        {"name": "huge", "inputSchema": {"description": "x" * mcp.MOST_SCHEMA_BYTES}}, "text",
    ]  # fmt: skip
    with serving(tools=tools) as server:
        listed = client(server).tools()
    assert isinstance(listed, ToolList)
    assert listed.tools == (SEARCH,)
    assert [reason.split("x" * 50)[0] for reason in listed.left_out] == [
        "a tool has no name", "the name of ", "no schema does not say what it takes",
        "what huge takes is described in more than 256 KiB", "a tool has no name",
    ]  # fmt: skip


@pytest.mark.parametrize("manner", [{"answer": STREAM}, {"old": True}])
def test_what_a_server_reports_is_noted_and_what_it_asks_is_declined(manner: dict[str, Any]) -> None:
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": {"n": 1}}}
    with serving(before=[PROGRESS, SAMPLING, {**SAMPLING, "id": 9, "method": "ping"}, log], **manner) as server:
        notes = list[str]()
        speaker = McpClient(server.url, asker(server), None, notes.append)
        assert isinstance(speaker.call("erase", {}), dict)
    assert notes == [
        "Reading (1 of 4)", "The server asked for sampling/createMessage, which was declined.", '{"n": 1}',
    ]  # fmt: skip
    declined, pong = server.replies
    reference.JSONRPCError.model_validate(declined)
    assert (declined["id"], declined["error"]["code"]) == ("s-1", -32601)
    assert pong == {"jsonrpc": "2.0", "id": 9, "result": {}}


@pytest.mark.parametrize("manner", [{"answer": STREAM}, {"old": True}])
def test_a_server_that_asks_without_end_is_left(manner: dict[str, Any]) -> None:
    with serving(before=[SAMPLING] * (mcp.MOST_REQUESTS + 1), **manner) as server:
        outcome = client(server).call("erase", {})
        assert isinstance(outcome, McpFailure)
        assert "asked for too much" in outcome.sentence
        assert len(server.replies) == mcp.MOST_REQUESTS


def test_a_stream_that_breaks_off_is_resumed_where_it_ended() -> None:
    with serving(answer=STREAM, before=[PROGRESS, PROGRESS], break_after=True) as server:
        assert isinstance(client(server).call("erase", {}), dict)
        resumed = server.asked[-1]
        assert (resumed.method, resumed.headers["last-event-id"], resumed.headers["mcp-session-id"]) == (
            "GET",
            "e1",
            "s1",
        )
        assert len(server.messages("tools/call")) == 1


def test_a_stream_that_cannot_be_resumed_is_a_failure() -> None:
    with serving(answer=STREAM, break_after=True) as server:
        outcome = client(server).call("erase", {})
        assert isinstance(outcome, McpFailure)
        assert "before it was complete" in outcome.sentence
        assert len(server.messages("tools/call")) == 1


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:1/messages", "//other.example/messages", "ftp://x", "https://["]
)
def test_messages_go_to_no_other_host_than_the_servers(endpoint: str) -> None:
    with serving(old=True, endpoint=endpoint) as server:
        outcome = client(server).tools()
        assert isinstance(outcome, McpFailure)
        assert [each.method for each in server.asked] == ["POST", "GET"]


@pytest.mark.parametrize(
    ("manner", "sentence"),
    [
        ({"revision": "1999-01-01"}, "speaks the revision 1999-01-01"),
        ({"key": "right"}, "does not accept this sign-in"),
        ({"body": b"<html>"}, "web page instead of JSON"),
        ({"body": b"[]"}, "did not answer by the Model Context Protocol"),
        ({"body": b'{"jsonrpc":"2.0","id":1,"result":[]}'}, "holds no result"),
        ({"body": b'{"jsonrpc":"2.0","id":1,"error":{"code":-3,"message":"Out of\\u0007 tea"}}'}, "says: Out of tea"),
        ({"body": b"x" * 2_000_000}, "too much to be read"),
        ({"results": {"tools/list": {"code": -32000, "message": ""}}}, "without a reason"),
    ],
)
def test_other_answers_are_sentences(manner: dict[str, Any], sentence: str) -> None:
    with serving(**manner) as server:
        outcome = client(server).tools()
    assert isinstance(outcome, McpFailure)
    assert sentence in outcome.sentence


def test_a_batch_is_read_for_its_answer() -> None:
    body = (
        b'[{"jsonrpc":"2.0","method":"notifications/message"},'
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"A"}}]'
    )
    with serving(body=body) as server:
        outcome = client(server).begin()
    assert outcome == McpFailure("The server says: A", None, 1)


def test_a_key_that_is_right_is_accepted() -> None:
    with serving(key="right") as server:
        assert isinstance(client(server, key="right").tools(), ToolList)
        outcome = client(server, key="wrong").tools()
        assert isinstance(outcome, McpFailure)
        assert (outcome.status, outcome.challenge) == (401, "Bearer")


def test_a_server_that_says_nothing_is_waited_for_until_the_deadline(peer: Callable[..., Any]) -> None:
    silent = peer(lambda connection, _: threading.Event().wait(3))
    outbound = OutboundClient(Guard([f"127.0.0.1:{silent.port}"]), user_agent="Patchbay-Test")

    def ask(
        method: str, headers: Mapping[str, str], body: bytes | None, watch: Any, url: str = ""
    ) -> Response | Failure:
        return outbound.request(method, silent.url, headers=headers, data=body, watch=watch, deadline_s=0.3)

    outcome = McpClient(silent.url, ask).tools()
    assert isinstance(outcome, McpFailure)
    assert "did not finish its answer in time" in outcome.sentence


def test_a_session_id_that_no_header_can_carry_is_refused() -> None:
    assert isinstance(mcp._agreed({"protocolVersion": "2025-06-18"}, "a b"), McpFailure)
