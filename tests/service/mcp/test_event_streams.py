"""Calls that take long: their progress, what a call and its client say to each other, also through other processes, and
an end where the client cancels them.
"""

import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.service.mcp.conftest import ACCEPTS, Events
from webapp.kit import cancellation
from webapp.service.mcp import calls, event_streams
from webapp.service.mcp import event_streams as lines
from webapp.service.mcp.clients import Client
from webapp.service.mcp.event_streams import Line, Places, pass_on
from webapp.service.mcp.protocol import Message, ProtocolError

CLIENT = Client("2025-11-25", session="s")
CALL = {"name": "every_type", "arguments": {}}
TOKEN = {"_meta": {"progressToken": "p1"}}


@pytest.fixture
def line(world: Any, monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.setattr(lines, "LOOK_EVERY_S", 0.001)
    return Line(world.service, CLIENT, Message(7, "tools/call", {}), Places(1), streams=True)


def cancel(world: Any, client: Client, number: Any) -> None:
    pass_on(world.service, client, Message(None, "notifications/cancelled", {"requestId": number}))


def test_a_call_is_cancelled_by_its_number_in_its_conversation_only(world: Any, line: Line) -> None:
    for client, number in (
        (Client("2025-11-25", session="t"), 7),
        (Client("2026-07-28"), 7),
        (CLIENT, "7"),
        (CLIENT, {}),
    ):
        cancel(world, client, number)
        line.check_cancellation()
        assert not line.cancellation.is_requested
    cancel(world, CLIENT, 7)
    line.check_cancellation()
    assert line.cancellation.is_requested


@pytest.mark.parametrize(
    ("result", "answer"), [({"action": "accept"}, "accept"), ({"action": "decline"}, "decline"), (None, "cancel")]
)
def test_what_the_person_answers_comes_back(world: Any, line: Line, result: Any, answer: str) -> None:
    line.send({})
    assert line.next(1) == {}

    def reply(message: Any) -> None:
        assert message["method"] == "elicitation/create" and message["params"] == {"mode": "url"}
        pass_on(world.service, CLIENT, Message(message["id"], None, {}, result))

    line.send = reply  # type: ignore[method-assign]
    assert line.ask({"mode": "url"}, 5) == answer


def test_no_more_calls_wait_than_may(line: Line) -> None:
    seen = list[int]()

    def look() -> int | None:
        seen.append(1)
        return line.wait(lambda: None, 60) if len(seen) == 1 else 5  # the place inside is taken: it does not wait

    assert line.wait(look, 60) == 5
    assert line.wait(lambda: None, 0.01) is None and line.next(0) == {}


class Slow:
    """A tool that takes ``seconds``, unless nobody wants it any more."""

    def __init__(self) -> None:
        self.seconds, self.ended_early = 0.1, False
        self.error: Exception | None = None

    def __call__(self, call: Any) -> dict[str, Any]:
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not self.ended_early:
            work = cancellation.CURRENT.get()
            self.ended_early = work is not None and work.is_requested
            time.sleep(0.002)
        if self.error:
            raise self.error
        return {"content": [{"type": "text", "text": "done"}]}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    tool = Slow()
    monkeypatch.setattr(event_streams, "FIRST_S", 0.005)
    monkeypatch.setattr(event_streams, "TURN_S", 0.005)
    monkeypatch.setattr(calls, "answer", tool)
    yield tool
    tool.ended_early = True


def test_who_takes_no_stream_waits_for_the_answer(world: Any, slow: Slow) -> None:
    assert world.agent().text("every_type") == "done"


def test_progress_is_reported_under_its_token_and_grows(world: Any, slow: Slow) -> None:
    *told, last = list(world.agent().stream("tools/call", {**CALL, **TOKEN}))
    assert len(told) > 1 and {message["method"] for message in told} == {"notifications/progress"}
    steps = [message["params"] for message in told]
    assert all(step["progressToken"] == "p1" and step["message"] for step in steps)
    assert sorted(step["progress"] for step in steps) == [step["progress"] for step in steps]
    assert last["result"]["content"][0]["text"] == "done"
    *quiet, last = list(world.agent().stream("tools/call", CALL))
    assert quiet and set(quiet) == {None} and last["id"]


def test_what_goes_wrong_on_the_way_is_the_last_message(
    world: Any, slow: Slow, caplog: pytest.LogCaptureFixture
) -> None:
    """What nobody expected is in the log, and not in the answer."""
    for error, code in ((ProtocolError(-32602, "No."), -32602), (ZeroDivisionError("inner"), -32603)):
        assert logged(caplog) == []
        slow.error = error
        *_, last = list(world.agent().stream("tools/call", CALL))
        assert last["error"]["code"] == code and "inner" not in str(last)
    (record,) = logged(caplog)
    assert record.exc_info is not None and record.exc_info[1] is slow.error


def logged(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What the endpoint logged; threads of other tests may log meanwhile."""
    return [record for record in caplog.records if record.name.startswith("webapp.service.mcp")]


def test_a_modern_client_hangs_up_and_the_work_ends(world: Any, slow: Slow) -> None:
    slow.seconds = 20
    events = world.agent().stream("tools/call", CALL).answer
    next(events.iter_encoded())
    events.close()
    assert ended(slow)


def test_an_older_client_says_so_in_another_request(world: Any, slow: Slow) -> None:
    slow.seconds = 20
    agent = world.agent().begin()
    events = Events(agent.post("tools/call", CALL, **ACCEPTS))
    messages = iter(events)
    assert next(messages) is None
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    assert agent.http.post("/mcp", json=note, headers=agent.headers).status_code == 202
    *_, last = list(messages)
    assert last["id"] == 2 and last["error"]["message"] == event_streams.CANCELLED and ended(slow)


def ended(slow: Slow) -> bool:
    for _ in range(500):
        if slow.ended_early:
            return True
        time.sleep(0.002)
    return False
