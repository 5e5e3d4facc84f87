"""Messages become a Reply; nothing that a component might say breaks it."""

from typing import Any

import pytest

from webapp.kit.clock import now
from webapp.service.components import limits
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.reply_builder import LATEST, ReplyBuilder


def heard(*messages: dict[str, Any]) -> ReplyBuilder:
    hearing = ReplyBuilder(Call(path="x"))
    for message in messages:
        hearing.take(message)
    return hearing


def test_prints_are_cut_into_lines_wherever_they_were_broken() -> None:
    blocks = ("one\ntw", "o\n", "three")
    hearing = heard(*({"print": text, "ts": number} for number, text in enumerate(blocks, 1)))
    lines = [(one.msg, one.ts) for one in hearing.reply().observations]
    assert lines == [("one", 1), ("two", 1), ("three", 3)]


def test_long_lines_and_many_lines_are_cut() -> None:
    hearing = heard({"print": "x" * 20_000 + "\n" * 5_000, "ts": 1})
    lines = hearing.reply().observations
    assert len(lines) == limits.LOG_LINES + 1
    assert len(lines[0].msg or "") == limits.LOG_LINE_CHARS
    assert lines[-1].msg == "(only the first 2,000 lines are kept)"


@pytest.mark.parametrize("ts", [LATEST + 1, -LATEST - 1, 2**63])
def test_what_no_date_can_hold_happened_now(ts: int) -> None:
    reply = heard({"log": "x", "ts": ts}, {"emit": 1, "id": None, "summary": None, "ts": ts}).reply()
    assert abs(reply.observations[0].ts - now()) < 60_000 and abs(reply.events[0].ts - now()) < 60_000


@pytest.mark.parametrize(
    "message",
    [
        {}, {"log": 5, "ts": 1}, {"log": "x"}, {"emit": 1, "id": 5, "summary": None, "ts": 1},
        {"export": 1, "value": 1}, {"respond": "200", "body": "", "headers": {}},
        {"end": None}, {"error": "text"}, ["list"], "text", None,
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_left_out(message: Any) -> None:
    hearing = heard(message)
    assert not hearing.ended
    reply = hearing.reply()
    assert (reply.observations, reply.exports, reply.events, reply.error) == ((), {}, (), None)


def test_an_error_of_a_strange_kind_is_an_exception() -> None:
    error = heard({"error": {"kind": "strange", "name": 5, "message": None, "status": "x"}}).reply().error
    assert error is not None
    assert (error.kind, error.name, error.message, error.status) == ("exception", "5", "None", None)


def test_the_end_without_a_value_is_a_crash_and_with_one_is_not() -> None:
    assert heard({"value": 1}, {"end": None, "code": 0}).reply().value == 1
    assert heard({"value": None}, {"end": None, "code": 0}).reply().error is None
    crash = heard({"end": None, "code": -11}).reply().error
    assert crash is not None and "SIGSEGV" in crash.message
    odd = heard({"end": None, "code": -250}).reply().error
    assert odd is not None and "signal 250" in odd.message


def test_a_failure_ends_the_observations() -> None:
    reply = heard({"log": "before", "ts": 1}, {"error": {"kind": "http", "message": "No.", "status": 404}}).reply()
    assert [one.k for one in reply.observations] == ["log", "error"]
    shown = reply.observations[-1].to_json()
    assert shown["err"] == {"name": "Error", "message": "No.", "stack": ""}
    assert reply.error is not None and (reply.error.status, reply.ok) == (404, False)


def test_refused_accounts_are_named_and_a_call_that_emitted_is_not_repeatable() -> None:
    hearing = ReplyBuilder(Call(path="x", accounts={"slack": AccountGrant()}))
    hearing.take({"refused": "slack", "repeatable": True})
    hearing.take({"refused": "another", "repeatable": False})
    assert (hearing.reply().refused, hearing.reply().repeatable) == (("slack",), True)
    hearing.take({"emit": 1, "id": None, "summary": None, "ts": 1})
    assert hearing.reply().repeatable is False


def test_when_what_a_trigger_made_ends() -> None:
    assert heard({"ends": 5}, {"value": None}).reply().ends_at == 5
    assert [heard({"ends": at}).reply().ends_at for at in (-1, "5", 10**20)] == [None, None, None]
