"""What an entry of the logs means, what to do next, and code that does it again, for each kind."""

from typing import Any

import pytest

from webapp.dashboard import log_entry, logs
from webapp.dashboard.client.models.logs import LogEntry
from webapp.dashboard.log_entry import kind_of, meaning_of, outcome_of, series, tone_of
from webapp.service.domain.projects import log_entries


def test_the_pages_words_are_those_of_the_kinds_and_statuses_that_the_service_decides() -> None:
    assert set(log_entry.KINDS) == set(log_entries.KINDS)
    assert set(log_entry.STATUSES) == set(log_entry.TONES) == set(log_entries.STATUSES)
    assert logs.COUNTED == log_entries.MOST_COUNTED


def entry(kind: str, **facts: Any) -> LogEntry:
    return LogEntry.model_validate({"kind": kind, "id": "x_1", "title": "A thing", **facts})


@pytest.mark.parametrize(
    ("facts", "word", "tone"),
    [
        ({"kind": "run", "status": "failed", "outcome": "failed"}, "Failed", "bad"),
        ({"kind": "run", "status": "waiting", "outcome": "running"}, "Running", "warn"),
        ({"kind": "run", "status": "succeeded", "outcome": "timer"}, "Succeeded", "ok"),
        ({"kind": "api_call", "status": "failed", "outcome": "404"}, "404", "bad"),
        ({"kind": "delivery", "status": "waiting", "outcome": "waiting"}, "On its way", ""),
        ({"kind": "delivery", "status": "waiting", "outcome": "waiting", "attempt": 2}, "Retrying", "warn"),
        ({"kind": "delivery", "status": "waiting", "outcome": "put_off", "attempt": 2}, "Waiting", "warn"),
        ({"kind": "delivery", "status": "failed", "outcome": "503", "attempt": 2}, "503", "bad"),
        ({"kind": "agent", "status": "waiting", "outcome": "waiting"}, "Waits for you", "warn"),
        ({"kind": "agent", "status": "failed", "outcome": "refused"}, "Refused", "bad"),
        ({"kind": "account", "status": "succeeded", "outcome": "connected"}, "Connected", "ok"),
        ({"kind": "account", "status": "failed", "outcome": "something_new"}, "Something new", "bad"),
        ({"kind": "new", "status": "odd"}, "odd", ""),
    ],
)
def test_how_it_ended(facts: dict[str, Any], word: str, tone: str) -> None:
    assert (outcome_of(entry(**facts)), tone_of(entry(**facts))) == (word, tone)


def test_a_change_is_one_of_an_account_or_of_a_trigger() -> None:
    of_account, of_trigger = entry("account", account_id="apn_1"), entry("account", trigger_id="dc_1")
    assert [kind_of(each) for each in (of_account, of_trigger, entry("new"))] == ["Account", "Trigger", "new"]
    assert kind_of(entry("run", trigger_id="dc_1")) == "Run"


@pytest.mark.parametrize(
    ("facts", "meaning", "step"),
    [
        ({"kind": "run", "status": "failed", "text": "Slack: {no}."}, "Slack: {no}.", "Change its values"),
        (
            {"kind": "run", "status": "failed", "outcome": "timer", "text": "No.", "emitted": 0},
            "No.",
            "Look at its values",
        ),
        ({"kind": "run", "status": "succeeded", "text": "Created issue 42"}, "Created issue 42", ""),
        ({"kind": "run", "status": "succeeded", "text": "Made {owned=1} {"}, "Made {owned=1} {", ""),
        ({"kind": "run", "status": "failed", "outcome": "unknown", "text": "Cut off."}, "Cut off.", "Look in the app"),
        ({"kind": "delivery", "status": "failed", "outcome": "500"}, "no further attempt: 500", "Repair the receiver"),
        ({"kind": "delivery", "status": "waiting"}, "on its way", "retried automatically"),
        ({"kind": "delivery", "status": "waiting", "outcome": "put_off"}, "", "works again"),
        ({"kind": "event", "status": "succeeded", "outcome": "emit"}, "", ""),
        ({"kind": "agent", "status": "waiting", "agent": "Claude"}, "Claude asks", "Allow or refuse"),
        ({"kind": "agent", "status": "failed", "outcome": "expired", "agent": "Claude"}, "nobody answered", "again"),
        ({"kind": "account", "status": "failed"}, "A thing", "Open the account"),
        ({"kind": "api_call", "status": "failed", "outcome": "429", "text": "Too many."}, "Too many.", "Retry-After"),
        ({"kind": "api_call", "status": "failed", "outcome": "503", "text": "Busy."}, "Busy.", "request ID"),
        ({"kind": "api_call", "status": "failed", "outcome": "400", "text": "id: missing"}, "id: missing", "Fix"),
    ],
)
def test_what_it_means_and_what_to_do(facts: dict[str, str], meaning: str, step: str) -> None:
    said, next_step = meaning_of(entry(**facts))
    assert meaning in said and step in next_step and (bool(meaning), bool(step)) == (bool(said), bool(next_step))


def test_only_an_answer_unlike_the_latest_is_shown_again() -> None:
    answers = [{"response_status": 503, "response_headers": {"date": day}, "response_body": "x"} for day in "ab"]
    other = {"response_status": 503, "response_body": "y"}
    (together,) = series(entry("delivery", attempts=[other, *answers]).attempts)
    assert [(number, differs) for number, _attempt, differs in together.numbered] == [(1, True), (2, False), (3, False)]
    assert list(series(())) == []
