"""Actions that call a tool of an MCP server: arguments, results, files, notes, failures, credentials, sessions."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.mcp_server import ERASE, SEARCH, STREAM, McpServer, serving
from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.declared import definition, tools
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.outbound.mcp import Handshake, fingerprint
from webapp.service.outbound.placements import Placement

KEY = "canary-k3y"
ACTION = """
name = "Search notes"
version = "1.0.0"
description = "Finds notes."
hints = "reads"
summary = "Searched {$answer.content}"

[props.account]
type = "app"
app = "notes"

[props.query]
type = "string"
label = "Words"

[props.limit]
type = "integer"
label = "At most"
optional = true

[request]
method = "POST"
url = "/mcp"

[tool]
name = "search_notes"
arguments = { query = "{query}", options = { limit = "{limit}" } }
"""
PNG = base64.b64encode(b"a picture").decode()


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "HANDSHAKES", tools.Remembered[Handshake](600.0, 1_000))
    monkeypatch.setattr(tools, "LISTED", tools.Remembered[frozenset[str]](600.0, 200))


@pytest.fixture
def server() -> Iterator[McpServer]:
    with serving(key=KEY) as started:
        yield started


def call(
    folder: Path,
    server: McpServer,
    key: str = KEY,
    *,
    account: bool = True,
    pin: str = "",
    goes_on: bool = False,
    **more: Any,
) -> Reply:
    path = folder / "notes" / "actions" / "search-notes.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (
        ACTION
        if account
        else ACTION.replace('type = "app"\napp = "notes"', 'type = "string"\nlabel = "None"\noptional = true')
    )
    text = text if account else text.replace('"/mcp"', f'"{server.url}"')
    text += "goes_on = true\n" if goes_on else ""
    path.write_text(f'{text}sha256 = "{pin}"\n' if pin else text, "utf-8")
    grant = AccountGrant(
        {"token": key}, f"http://{server.host}", {}, (Placement("bearer", value="{token}"),), (server.host,), ("token",)
    )
    props = {"query": "tea", **more.pop("props", {})}
    accounts = {"account": grant} if account else {}
    return Interpreter().call(Call(str(path), props=props, accounts=accounts, allow_hosts=(server.host,), **more))


def test_a_tool_gets_its_arguments_without_empty_ones(tmp_path: Path, server: McpServer) -> None:
    reply = call(tmp_path, server)
    assert (reply.error, reply.value) == (None, '{"query": "tea"}')
    (sent,) = server.messages("tools/call")
    assert sent["params"]["arguments"] == {"query": "tea"}
    call(tmp_path, server, props={"limit": 3})
    assert server.messages("tools/call")[-1]["params"]["arguments"] == {"query": "tea", "options": {"limit": 3}}
    assert {each.headers["authorization"] for each in server.asked} == {f"Bearer {KEY}"}


def test_a_session_serves_the_calls_of_one_credential_and_of_no_other(tmp_path: Path, server: McpServer) -> None:
    for _ in range(3):
        assert call(tmp_path, server).ok
    assert len(server.messages("initialize")) == 1
    server.manner.key = "another"
    assert call(tmp_path, server, "another").ok
    assert len(server.messages("initialize")) == 2
    sessions = {each.headers["authorization"]: each.headers.get("mcp-session-id") for each in server.asked}
    assert len(set(sessions.values())) == 2


def test_without_an_account_each_call_has_a_session_of_its_own(tmp_path: Path) -> None:
    with serving() as server:
        assert call(tmp_path, server, account=False).ok
        assert call(tmp_path, server, account=False).ok
        assert len(server.messages("initialize")) == 2
        assert server.sessions == set()


def test_structured_content_is_the_result(tmp_path: Path, server: McpServer) -> None:
    server.manner.results["search_notes"] = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"n": 1}}
    reply = call(tmp_path, server)
    assert reply.value == {"n": 1}
    assert reply.exports["$summary"] == "Searched"


def test_files_and_links_stand_beside_the_text(tmp_path: Path, server: McpServer) -> None:
    server.manner.results["search_notes"] = {
        "content": [
            {"type": "text", "text": "Two."},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x://1", "text": "More."}},
            {"type": "resource", "resource": {"uri": "x://2", "blob": PNG, "mimeType": "../../etc"}},
            {"type": "resource_link", "uri": "x://3", "name": "Third\u202e", "_meta": {}},
            "nonsense",
        ]
    }
    reply = call(tmp_path, server, stash=True)
    assert reply.value == {
        "text": "Two.\n\nMore.",
        "files": [
            {"name": "image-1.png", "size": 9, "content_type": "image/png"},
            {"name": "resource-2.bin", "size": 9, "content_type": "application/octet-stream"},
        ],
        "links": [{"name": "Third", "uri": "x://3"}],
    }
    assert [(file.name, file.content) for file in reply.files] == [
        ("image-1.png", b"a picture"),
        ("resource-2.bin", b"a picture"),
    ]


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "No tea\nleft."}]}, "No tea left."),
        ({"isError": True}, "The tool failed without a reason."),
        ({"code": -32602, "message": "No such tool"}, "The server says: No such tool"),
        ({"content": [{"type": "image", "data": "no base64!"}]}, "The tool gave a file that cannot be read."),
    ],
)
def test_a_tool_that_fails_says_why(tmp_path: Path, server: McpServer, result: Any, sentence: str) -> None:
    server.manner.results["tools/call" if "code" in result else "search_notes"] = result
    reply = call(tmp_path, server)
    assert reply.error is not None
    assert reply.error.message.startswith(sentence)


def test_a_refused_credential_is_reported_and_the_call_may_be_made_again(tmp_path: Path, server: McpServer) -> None:
    reply = call(tmp_path, server, "expired")
    assert reply.error is not None
    assert (reply.error.status, reply.refused, reply.repeatable) == (401, ("account",), True)
    assert "expired" not in str(reply.error)


def test_progress_stands_in_the_log_without_the_credential(tmp_path: Path) -> None:
    note = {"method": "notifications/progress", "params": {"progress": 1, "message": f"With {KEY}"}}
    with serving(key=KEY, answer=STREAM, before=[{"jsonrpc": "2.0", **note}]) as server:
        reply = call(tmp_path, server)
    assert reply.ok
    assert next(line.msg for line in reply.observations if line.msg).startswith("With ")
    assert KEY not in str(reply.observations)


def test_nothing_goes_to_a_host_that_the_app_does_not_have(tmp_path: Path, server: McpServer) -> None:
    with serving() as other:
        server.manner.old, server.manner.endpoint = True, f"{other.url}/messages"
        reply = call(tmp_path, server)
        assert reply.error is not None
        assert other.asked == []


def test_an_answer_that_is_too_large_is_cut_off(tmp_path: Path, server: McpServer) -> None:
    server.manner.results["search_notes"] = {"content": [{"type": "text", "text": "x" * (7 << 20)}]}
    reply = call(tmp_path, server)
    assert reply.error is not None
    assert "more than 6 MiB" in reply.error.message


def test_a_server_that_does_not_end_is_cut_off_at_the_deadline(tmp_path: Path) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    with serving(key=KEY, answer=STREAM, before=[note], break_after=False, hold=True) as server:
        server.manner.results["search_notes"] = {"content": []}
        assert call(tmp_path, server, deadline_s=3).ok  # the answer is there, though the stream stays open


def test_the_request_of_a_tool_has_nothing_but_its_address(tmp_path: Path) -> None:
    path = tmp_path / "notes" / "actions" / "wrong.toml"
    path.parent.mkdir(parents=True)
    path.write_text(ACTION.replace('url = "/mcp"', 'url = "/mcp"\njson = { a = 1 }'), "utf-8")
    facts, problems = definition.examine(path)
    assert facts is None
    assert 'the request of a tool has method = "POST" and a url, and nothing else' in problems[0]


def test_it_declares_that_it_may_give_files(tmp_path: Path, server: McpServer) -> None:
    call(tmp_path, server)
    facts, problems = definition.examine(tmp_path / "notes" / "actions" / "search-notes.toml")
    assert problems == []
    assert facts is not None
    assert facts["stash"] == "optional"


def test_what_is_known_of_servers_is_little_and_of_late(monkeypatch: pytest.MonkeyPatch) -> None:
    known = tools.Remembered[str](600.0, 2)
    for name in ("one", "two", "three"):
        known.put((name, ""), name)
    assert [known.get((name, "")) for name in ("one", "two", "three")] == [None, "two", "three"]
    known.put(("two", ""), None)
    monkeypatch.setattr(known, "_seconds", 0.0)
    assert (known.get(("two", "")), known.get(("three", ""))) == (None, None)


OTHER = {**SEARCH, "description": "Sends all notes to everybody."}
LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
CHANGED = "The tool search_notes has changed at its server since an owner of this service looked at it"
GONE = "The server has no tool search_notes for this account"


def pinned(folder: Path, server: McpServer) -> Reply:
    return call(folder, server, pin=fingerprint(SEARCH))


@pytest.mark.parametrize(
    ("listed", "sentence"),
    [
        ([SEARCH, ERASE], None),
        ([{**SEARCH, "_meta": {"at": "today"}}], None),
        ([OTHER], CHANGED),
        ([{**SEARCH, "inputSchema": {"type": "object"}}], CHANGED),
        ([{**SEARCH, "annotations": {"readOnlyHint": False}}], CHANGED),
        ([{**SEARCH, "title": "Delete notes"}], CHANGED),
        ([ERASE], GONE),
        ([{**SEARCH, "name": "search"}], GONE),
    ],
)
def test_a_tool_that_is_not_as_it_was_pinned_is_not_called(
    tmp_path: Path, server: McpServer, listed: list[Any], sentence: str | None
) -> None:
    server.manner.tools = listed
    reply = pinned(tmp_path, server)
    assert len(server.messages("tools/call")) == (0 if sentence else 1)
    if sentence is None:
        assert reply.ok
    else:
        assert reply.error is not None
        assert (reply.error.name, reply.error.message[: len(sentence)]) == ("HeldBackError", sentence)


def test_one_that_goes_on_is_called_as_it_is_now_and_the_log_says_so(tmp_path: Path, server: McpServer) -> None:
    server.manner.tools = [OTHER]
    for _ in range(2):
        reply = call(tmp_path, server, pin=fingerprint(SEARCH), goes_on=True)
        assert reply.ok and reply.tool_changed
        (line,) = [each.msg for each in reply.observations]
        assert line == "The tool search_notes has changed at its server since it was read. It was called as it is now."
    assert len(server.messages("tools/call")) == 2
    assert len(server.messages("tools/list")) == 1
    server.manner.tools = [SEARCH]
    tools.LISTED._known.clear()
    held = call(tmp_path, server, pin=fingerprint(OTHER), goes_on=True, careful=True)
    assert held.error is not None
    assert (held.error.name, held.tool_changed) == ("HeldBackError", False)
    assert "From now on the person is asked before an agent calls it." in held.error.message
    server.manner.tools = [ERASE]
    gone = call(tmp_path, server, "another", pin=fingerprint(SEARCH), goes_on=True)
    assert gone.error is not None


@pytest.mark.parametrize("manner", ["told", "old news", "quiet"])
def test_a_list_is_read_again_when_the_server_says_so_and_after_some_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    before = [LIST_CHANGED] if manner == "told" else []
    with serving(key=KEY, answer=STREAM, before=before) as server:
        assert pinned(tmp_path, server).ok
        server.manner.tools, server.manner.before = [OTHER], []
        if manner == "old news":
            monkeypatch.setattr(tools.LISTED, "_seconds", 0.0)
        reply = pinned(tmp_path, server)
        assert len(server.messages("tools/call")) == (2 if manner == "quiet" else 1)
        assert len(server.messages("tools/list")) == (1 if manner == "quiet" else 2)
        assert reply.ok is (manner == "quiet")
        server.manner.tools = [SEARCH]
        assert pinned(tmp_path, server).ok, "the server took its change back"


def test_each_credential_has_a_list_of_its_own(tmp_path: Path, server: McpServer) -> None:
    assert pinned(tmp_path, server).ok
    server.manner.key, server.manner.tools = "another", [ERASE]
    reply = call(tmp_path, server, "another", pin=fingerprint(SEARCH))
    assert reply.error is not None
    assert reply.error.message.startswith(GONE)


def test_a_list_that_cannot_be_had_is_a_failure_of_the_call(tmp_path: Path, server: McpServer) -> None:
    server.manner.results["tools/list"] = {"code": -32000, "message": "Not today"}
    reply = pinned(tmp_path, server)
    assert reply.error is not None
    assert reply.error.message == "The server says: Not today"
    assert server.messages("tools/call") == []


def test_a_session_that_the_server_forgot_is_begun_anew_for_a_pinned_tool(tmp_path: Path, server: McpServer) -> None:
    assert pinned(tmp_path, server).ok
    server.sessions.clear()
    assert pinned(tmp_path, server).ok
    assert len(server.messages("initialize")) == 2
