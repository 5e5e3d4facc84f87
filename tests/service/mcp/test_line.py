"""What a call and its client tell each other, also through other processes."""

from typing import Any

import pytest

from webapp.service.mcp import line as lines
from webapp.service.mcp.conversations import Client
from webapp.service.mcp.line import Line, Places, hear
from webapp.service.mcp.protocol import Message

CLIENT = Client("2025-11-25", session="s")


@pytest.fixture
def line(world: Any, monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.setattr(lines, "LOOK_EVERY_S", 0.001)
    return Line(world.service, CLIENT, Message(7, "tools/call", {}), Places(1), streams=True)


def cancel(world: Any, client: Client, number: Any) -> None:
    hear(world.service, client, Message(None, "notifications/cancelled", {"requestId": number}))


def test_a_call_is_cancelled_by_its_number_in_its_conversation_alone(world: Any, line: Line) -> None:
    for client, number in (
        (Client("2025-11-25", session="t"), 7),
        (Client("2026-07-28"), 7),
        (CLIENT, "7"),
        (CLIENT, {}),
    ):
        cancel(world, client, number)
        line.look_for_end()
        assert not line.cancellation.is_requested
    cancel(world, CLIENT, 7)
    line.look_for_end()
    assert line.cancellation.is_requested


@pytest.mark.parametrize(
    ("result", "answer"), [({"action": "accept"}, "accept"), ({"action": "decline"}, "decline"), (None, "cancel")]
)
def test_what_the_person_answers_comes_back(world: Any, line: Line, result: Any, answer: str) -> None:
    line.send({})
    assert line.next(1) == {}

    def reply(message: Any) -> None:
        assert message["method"] == "elicitation/create" and message["params"] == {"mode": "url"}
        hear(world.service, CLIENT, Message(message["id"], None, {}, result))

    line.send = reply  # type: ignore[method-assign]
    assert line.ask({"mode": "url"}, 5) == answer


def test_no_more_calls_wait_than_may(line: Line) -> None:
    seen = list[int]()

    def look() -> int | None:
        seen.append(1)
        return line.wait(lambda: None, 60) if len(seen) == 1 else 5  # the place inside is taken: it does not wait

    assert line.wait(look, 60) == 5
    assert line.wait(lambda: None, 0.01) is None and line.next(0) == {}
