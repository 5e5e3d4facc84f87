"""Messages as JSON-RPC has them, and what a client says of itself."""

from typing import Any

import pytest

from webapp.service.mcp import protocol
from webapp.service.mcp.protocol import ProtocolError


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


def test_a_message_says_under_what_its_progress_is_told() -> None:
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
