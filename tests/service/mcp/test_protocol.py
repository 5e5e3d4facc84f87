"""What we take for a request of the protocol is what the protocol's own types take for one; messages and batches are as
JSON-RPC has them.
"""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.service.mcp.conftest import Agent
from webapp.service.mcp import protocol
from webapp.service.mcp.protocol import HANDSHAKES, MODERN, Message, ProtocolError

CLIENT = {"name": "agent", "version": "1"}
META: dict[str, Any] = {protocol.REVISION_KEY: MODERN, protocol.CAPABILITIES_KEY: {"elicitation": {"url": {}}}}
NOTHING: Any = None
PARAMS: list[dict[str, Any]] = [
    {},
    *({"_meta": meta} for meta in [NOTHING, 1, {}, {"progressToken": {}}, {"progressToken": "a"}, META]),
    *(
        {"_meta": {**META, key: value}}
        for key in (protocol.REVISION_KEY, protocol.CAPABILITIES_KEY, protocol.CLIENT_KEY, "progressToken")
        for value in [
            NOTHING,
            5,
            "text",
            [],
            {},
            CLIENT,
            {"elicitation": 5},
            {"elicitation": {"form": 1}},
            {"roots": []},
        ]
    ),
    *({"_meta": META, "cursor": cursor} for cursor in [NOTHING, "", "abc", 5, {}]),
    *({"_meta": META, "name": name} for name in [NOTHING, "", "tool", 5, {}]),
    *({"_meta": META, "name": "tool", "arguments": arguments} for arguments in [NOTHING, {}, {"a": [None]}, [], "a"]),
    *({"_meta": META, "name": "tool", "requestState": state} for state in [NOTHING, "abc", 5]),
    *({"_meta": META, "name": "tool", "inputResponses": answers} for answers in [NOTHING, {}, [], {"a": 5}]),
    {"_meta": META, "name": "tool", "inputResponses": {"connect": {"action": "accept"}}},
    *({"protocolVersion": "1", "capabilities": {}, "clientInfo": client} for client in [NOTHING, {}, CLIENT]),
    {"capabilities": {}, "clientInfo": CLIENT},
    {"protocolVersion": "1", "capabilities": [], "clientInfo": CLIENT},
    {"protocolVersion": "1", "capabilities": {"experimental": {"a": 1}}, "clientInfo": CLIENT},
]
PING = {"jsonrpc": "2.0", "method": "ping"}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.mark.parametrize("revision", [*HANDSHAKES, MODERN])
@pytest.mark.parametrize("method", sorted({*protocol.OLDER_PARAMS, *protocol.MODERN_PARAMS}))
def test_a_request_is_judged_as_by_the_types_of_the_protocol(method: str, revision: str) -> None:
    from mcp_types.methods import validate_client_request

    verdicts = {}
    for params in PARAMS:
        try:
            validate_client_request(method, revision, params or None)
            verdicts[str(params)] = 0
        except KeyError:
            verdicts[str(params)] = protocol.METHOD_NOT_FOUND
        except ValidationError:
            verdicts[str(params)] = protocol.INVALID_PARAMS
    assert {str(params): _verdict(method, revision, params) for params in PARAMS} == verdicts


def _verdict(method: str, revision: str, params: dict[str, Any]) -> int:
    try:
        protocol.check(Message(1, method, params), revision)
    except ProtocolError as error:
        return error.code
    return 0


@pytest.mark.parametrize(
    "body",
    [
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        {"jsonrpc": "2.0", "result": {}},
    ],
)
def test_what_is_no_message_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refused:
        protocol.read(body)
    assert refused.value.code == protocol.INVALID_REQUEST and refused.value.status == 400


def test_a_message_says_under_what_its_progress_is_reported() -> None:
    body = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"_meta": {"progressToken": 0}}}
    assert protocol.read(body).progress_token == 0
    assert protocol.read({"jsonrpc": "2.0", "method": "x", "params": {"_meta": 1}}).progress_token is None


def test_a_request_that_its_revision_does_not_have_so() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": []}}
    for body, code in ((call, protocol.INVALID_PARAMS), ({**call, "method": "nothing"}, protocol.METHOD_NOT_FOUND)):
        with pytest.raises(ProtocolError) as refused:
            protocol.check(protocol.read(body), "2025-11-25")
        assert refused.value.code == code
    protocol.check(protocol.read({**call, "params": {"name": "x"}}), "2025-11-25")


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ({"name": "claude-code", "title": "Claude Code"}, "Claude Code"),
        ({"name": "a\u202eb\n", "title": " "}, "ab"),
        ({"name": "x" * 500}, "x" * 100),
        ({"name": 5}, ""),
        (None, ""),
    ],
)
def test_what_a_client_calls_itself(client: Any, name: str) -> None:
    assert protocol.name_of(client) == name


def test_what_a_client_can_do() -> None:
    assert protocol.opens_links({"elicitation": {"url": {}}})
    unable: tuple[Any, ...] = ({"elicitation": {}}, {"elicitation": {"form": {}}}, {}, None)
    assert not any(protocol.opens_links(can) for can in unable)


def send(agent: Agent, body: list[Any]) -> Any:
    accepts = {"Accept": "application/json, text/event-stream"}
    return agent.http.post("/mcp", json=body, headers={**agent.headers, **accepts})


def test_each_message_is_answered_but_those_that_want_none(world: Any) -> None:
    agent = world.agent().begin("2025-03-26")
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
    fine, wrong = {"name": "every_type", "arguments": {"number": 3}}, {"name": "nothing"}
    answer = send(agent, [PING | {"id": 1}, NOTE, call | {"params": fine}, call | {"id": 3, "params": wrong}, 7])
    pong, done, missing, broken = answer.get_json()
    assert (answer.status_code, answer.mimetype, pong["result"]) == (200, "application/json", {})
    assert done["id"] == 2 and '"number":3' in done["result"]["content"][0]["text"]
    assert missing["id"] == 3 and missing["error"]["code"] == protocol.INVALID_PARAMS
    assert broken["id"] is None and broken["error"]["code"] == protocol.INVALID_REQUEST
    notes = send(agent, [NOTE, NOTE])
    assert (notes.status_code, notes.data) == (202, b"")
    assert send(world.agent(), [PING | {"id": 1}]).status_code == 200, "who names no revision speaks that one"


@pytest.mark.parametrize(
    ("revision", "body", "words"),
    [
        ("2025-06-18", [PING | {"id": 1}], "one message at a time"),
        ("2025-03-26", [], "1 to"),
        ("2025-03-26", [PING | {"id": 1}] * (protocol.MAX_BATCH + 1), "1 to"),
        ("2025-03-26", [{"jsonrpc": "2.0", "id": 1, "method": "initialize"}], "alone"),
    ],
    ids=["another revision", "empty", "too many", "a beginning"],
)
def test_other_batches_are_refused(world: Any, revision: str, body: list[Any], words: str) -> None:
    answer = send(world.agent().begin(revision), body)
    assert answer.status_code == 400 and words in answer.get_json()["error"]["message"]
