"""What we take for a request of the protocol is what the protocol's own types take for one."""

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.mcp import protocol, shapes
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


@pytest.mark.parametrize("revision", [*HANDSHAKES, MODERN])
@pytest.mark.parametrize("method", sorted({*shapes.OLDER, *shapes.MODERN}))
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
