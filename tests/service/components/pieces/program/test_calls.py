"""One call after the other: what is said, what fails, and that nothing of a call stays for the next."""

from typing import Any

import pytest

from tests.service.components.pieces.program.driver import Host

KEYS = {"type": "CUSTOM_AUTH", "props": {"key": "good"}}


def test_what_is_printed_is_the_log(host: Host) -> None:
    outcome = host.run("prints")
    assert outcome.logs == ["one { two: 2 }", "line\nand line", "half whole", "rest"]
    assert all(isinstance(message["ts"], int) for message in outcome.messages)


def test_a_flood_ends_the_call(host: Host) -> None:
    outcome = host.run("floods")
    assert outcome.error is not None
    assert outcome.error["kind"] == "output"
    assert 55 < len(outcome.logs) < 65


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("late_throw", "nobody catches this"),
        ("rejected", "nobody awaits this"),
        ("thrown_in_data", "thrown by a listener"),
    ],
)
def test_what_nobody_catches_ends_the_call_with_an_error(host: Host, name: str, message: str) -> None:
    error = host.run(name).error
    assert error is not None
    assert (error["kind"], error["name"], error["message"]) == ("exception", "TypeError", message)
    assert error["stack"].startswith("at ")
    assert "src/index.js:" in error["stack"]
    assert "node:" not in error["stack"]


def test_a_piece_does_not_silence_what_nobody_catches(host: Host) -> None:
    assert host.run("deaf").error is None
    error = host.run("late_throw").error
    assert error is not None
    assert error["message"] == "nobody catches this"


def test_nothing_of_a_call_stays_for_the_next(host: Host) -> None:
    assert host.run("leaves", auth=KEYS, state={"flow:kept": "of the first"}).value == KEYS
    outcome = host.run("left")
    assert outcome.value == {"leaked": ["promise"], "listeners": 0, "before": "of the first"}
    assert outcome.logs == ["of this call"]
    assert outcome.state == {}
    assert outcome.hosts == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("axios", ("http", "Error", 'The provider answered 404: {"no":1}', 404)),
        ("status", ("http", "Error", "Too many", 429)),
        ("text", ("exception", "String", "just text", None)),
        ("object", ("exception", "Object", '{"code":7}', None)),
        ("hostile", ("exception", "Error", "The piece failed with an error that cannot be read.", None)),
        ("range", ("exception", "RangeError", "out of range", None)),
    ],
)
def test_an_error_says_what_it_carries(host: Host, kind: str, expected: tuple[Any, ...]) -> None:
    error = host.run("fails", props={"kind": kind}).error
    assert error is not None
    assert (error["kind"], error["name"], error["message"], error.get("status")) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("nothing", None), ("big", "12"), ("half", "\ufffd"), ("date", "1970-01-01T00:00:00.000Z")],
)
def test_a_result_is_json(host: Host, kind: str, expected: Any) -> None:
    outcome = host.run("returns", props={"kind": kind})
    assert (outcome.error, outcome.value) == (None, expected)


@pytest.mark.parametrize(("kind", "refusal"), [("circle", "result"), ("huge", "output")])
def test_a_result_that_cannot_be_carried_is_an_error(host: Host, kind: str, refusal: str) -> None:
    error = host.run("returns", props={"kind": kind}).error
    assert error is not None
    assert error["kind"] == refusal


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "action", "name": "absent"}, "The piece has no action absent."),
        ({"kind": "trigger", "name": "constructor"}, "The piece has no trigger constructor."),
        ({"kind": "action", "name": "stores", "method": "sing"}, "A piece does not know the call sing."),
    ],
)
def test_a_call_of_what_is_not_there_is_an_error(host: Host, fields: dict[str, Any], message: str) -> None:
    error = host.call(**{"method": "run", **fields}).error
    assert error is not None
    assert error["message"] == message
