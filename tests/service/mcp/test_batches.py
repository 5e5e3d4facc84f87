"""Several messages in one request: where the revision has them, each is answered; elsewhere they are refused."""

from typing import Any

import pytest

from tests.service.mcp.conftest import Agent
from webapp.service.mcp import batches, protocol

PING = {"jsonrpc": "2.0", "method": "ping"}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


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
        ("2025-03-26", [PING | {"id": 1}] * (batches.MOST + 1), "1 to"),
        ("2025-03-26", [{"jsonrpc": "2.0", "id": 1, "method": "initialize"}], "alone"),
    ],
    ids=["another revision", "empty", "too many", "a beginning"],
)
def test_other_batches_are_refused(world: Any, revision: str, body: list[Any], words: str) -> None:
    answer = send(world.agent().begin(revision), body)
    assert answer.status_code == 400 and words in answer.get_json()["error"]["message"]
