"""One check for each prop type: what fits passes, and what does not is told in one sentence."""

from typing import Any

import pytest

from webapp.service.domain.components.prop_checks import CHECKS, NEVER_ASKED, option_value, problem


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("app", {"authProvisionId": "apn_1"}),
        ("string", ""),
        ("string[]", ["a", "b"]),
        ("integer", -1),
        ("integer[]", []),
        ("boolean", False),
        ("object", {}),
        ("sql", {"query": "select 1", "params": [], "auth": {"app": "postgresql"}}),
        ("http_request", {"url": "/", "method": "post", "headers": [{"name": "a", "value": "b"}]}),
        ("$.interface.timer", {"intervalSeconds": 1}),
        ("$.interface.timer", {"intervalSeconds": 1, "cron": "", "timezone": "UTC"}),
        ("$.interface.timer", {"cron": "0 9 * * *", "timezone": "Europe/Berlin"}),
        ("data_store", "ds_1"),
        ("$.discord.channel[]", ["1"]),
        ("a type of tomorrow", object()),
    ],
)
def test_what_fits(kind: str, value: Any) -> None:
    assert problem({"type": kind}, value) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("app", "apn_1"),
        ("app", {"authProvisionId": 1}),
        ("string", 1),
        ("string", None),
        ("string[]", "ab"),
        ("string[]", ["a", 1]),
        ("integer", True),
        ("integer", 1.5),
        ("integer", "1"),
        ("boolean", 0),
        ("object", []),
        ("sql", "select 1"),
        ("sql", {"query": 1}),
        ("sql", {"query": "select 1", "params": "x"}),
        ("sql", {"query": "select 1", "auth": "postgresql"}),
        ("sql", {"query": "select 1", "usePreparedStatements": "no"}),
        ("http_request", {"method": "GET"}),
        ("http_request", {"url": "/", "method": "BREW"}),
        ("http_request", {"url": "/", "headers": {"a": "b"}}),
        ("http_request", {"url": "/", "params": [{"name": 1}]}),
        ("http_request", {"url": "/", "body": "x"}),
        ("http_request", {"url": "/", "auth": {"type": "magic"}}),
        ("$.interface.timer", {}),
        ("$.interface.timer", {"intervalSeconds": 0}),
        ("$.interface.timer", {"intervalSeconds": True}),
        ("$.interface.timer", {"cron": "* * * * *", "timezone": 1}),
        ("$.interface.timer", {"cron": "* * * * *", "intervalSeconds": 60}),
        ("data_store", 1),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(kind: str, value: Any) -> None:
    sentence = problem({"type": kind}, value)
    assert sentence is not None
    assert sentence.endswith(".") and sentence[:1].isupper()


def test_the_bounds_of_a_number_are_part_of_it() -> None:
    prop = {"type": "integer", "min": 1, "max": 5}
    assert [problem(prop, number) for number in (1, 5)] == [None, None]
    assert problem(prop, 0) == "It must be at least 1."
    assert problem(prop, 6) == "It must be at most 5."


def test_only_what_is_offered_is_taken_unless_it_is_looked_up() -> None:
    options = ["a", {"label": "B", "value": "b"}, {"__lv": {"label": "C", "value": "c"}}]
    assert [option_value(option) for option in options] == ["a", "b", "c"]
    prop = {"type": "string", "options": options}
    assert [problem(prop, value) for value in "abc"] == [None] * 3
    assert problem(prop, "d") == "It is none of the choices that this field offers."
    assert problem({**prop, "remoteOptions": True}, "d") is None


def test_a_list_names_the_place_of_what_is_wrong() -> None:
    assert problem({"type": "integer[]", "max": 5}, [1, 9]) == "Item 2: it must be at most 5."


def test_what_is_never_asked_for_is_a_known_type() -> None:
    assert NEVER_ASKED - CHECKS.keys() == {"alert"}
