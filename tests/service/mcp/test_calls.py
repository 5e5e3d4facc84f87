"""The arguments of our own tools, which must be as they say."""

from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.api.base.call import ANYONE
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import Entry
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.conversations import Client
from webapp.service.mcp.line import Line, Places
from webapp.service.mcp.protocol import Message
from webapp.service.mcp.visitors import Visitor


@pytest.fixture
def call(world: Any) -> ToolCall:
    client, message = Client("2025-11-25"), Message(1, "tools/call", {})
    line = Line(world.service, client, message, Places(1), streams=False)
    session = sessions.enter(world.service, world.scene, "alice", Entry("client", "c"), "Robot")
    return ToolCall(world.service, Visitor(ANYONE, world.scene, "alice"), client, session, line, "x", {}, {})


def test_what_is_there_is_read(call: ToolCall) -> None:
    filled = replace(call, arguments={"a": "text", "n": 3, "o": {"b": 1}})
    assert (filled.text("a"), filled.number("n", 0, 9), filled.values("o")) == ("text", 3, {"b": 1})
    assert (call.number("n", 5, 9), call.values("o")) == (5, {})


@pytest.mark.parametrize("arguments", [{}, {"a": 5, "n": True, "o": []}, {"a": " ", "n": 10, "o": "x"}, {"n": "1"}])
def test_what_is_wrong_is_named(call: ToolCall, arguments: dict[str, Any]) -> None:
    wrong = replace(call, arguments=arguments)
    with pytest.raises(Invalid, match=r"^a is "):
        wrong.text("a")
    if arguments:
        with pytest.raises(Invalid, match=r"^n is not valid"):
            wrong.number("n", 0, 9)
    if "o" in arguments:
        with pytest.raises(Invalid, match=r"^o is not valid"):
            wrong.values("o")
