"""One check for each prop type: what fits passes, and what does not is told in one sentence.

Values against declarations: labels, defaults, what is missing and what is secret.
"""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.domain.components import prop_values
from webapp.service.domain.components.prop_values import CHECKS, MAX_DEPTH, NEVER_ASKED, option_value, problem, shallow

Prop = dict[str, Any]


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
def test_what_does_not_fit_is_reported_in_one_sentence(kind: str, value: Any) -> None:
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


def prop(name: str = "it", kind: str = "string", **facts: Any) -> Prop:
    return {"name": name, "type": kind, **facts}


@pytest.mark.parametrize(
    ("given", "value", "label"),
    [
        ({"__lv": {"label": "One", "value": 1}}, 1, "One"),
        ({"__lv": {"value": 1}}, 1, None),
        ({"__lv": [{"label": "One", "value": 1}, {"label": "Two", "value": 2}]}, [1, 2], "One, Two"),
        ({"__lv": ["a", "b"]}, ["a", "b"], None),
        ([{"__lv": {"label": "One", "value": 1}}, 2], [1, 2], "One"),
        ({"a": [{"__lv": {"label": "One", "value": 1}}]}, {"a": [1]}, None),
        ({"__lv": {"label": "All", "value": {"__lv": {"label": "In", "value": [3]}}}}, [3], "All"),
        ({"__lv": "x"}, "x", None),
        ({"__lv": {"label": 5, "value": "x"}}, "x", None),
        ({"__lv": 1, "other": 2}, {"__lv": 1, "other": 2}, None),
        (None, None, None),
    ],
)
def test_labels_are_taken_off_wherever_they_stand(given: Any, value: Any, label: str | None) -> None:
    assert prop_values.unwrapped(given) == (value, label)


def test_whole_values_take_defaults_and_need_what_is_required() -> None:
    props = [
        prop("title"), prop("body", default="Hello"), prop("note", optional=True, default="n"),
        prop("unseen", hidden=True), prop("off", disabled=True), prop("tip", "alert"), prop("hook", "$.interface.http"),
    ]  # fmt: skip
    found = prop_values.checked(props, {"title": "T", "body": "", "note": ""}, whole=True)
    assert found.props == {"title": "T", "body": "Hello", "note": ""}
    with pytest.raises(Invalid) as raised:
        prop_values.checked(props, {"title": ""}, whole=True)
    assert [one.field for one in raised.value.details] == ["configured_props.title"]
    assert "title" in raised.value.message
    assert prop_values.checked(props, {}, whole=False).props == {}


def test_an_empty_statement_is_missing_even_as_the_default() -> None:
    statement = prop("sql", "sql", default={"query": "", "value": "", "params": []})
    with pytest.raises(Invalid):
        prop_values.checked([statement], {}, whole=True)
    with pytest.raises(Invalid):
        prop_values.checked([statement], {"sql": {"query": "", "params": 1}}, whole=False)
    given = {"sql": {"value": "select 1"}}
    assert prop_values.checked([statement], given, whole=True).props == given


def test_accounts_are_told_apart_and_labels_kept() -> None:
    props = [prop("account", "app", app="acme"), prop("second", "app", app="acme", optional=True), prop("list")]
    account = {"__lv": {"label": "Ada", "value": {"authProvisionId": "apn_1"}}}
    found = prop_values.checked(
        props, {"account": account, "list": {"__lv": {"label": "L", "value": "l"}}, "else": 1}, whole=True
    )
    assert (found.accounts, found.props) == ({"account": "apn_1"}, {"list": "l"})
    assert found.labels["list"] == "L"


def test_fixed_options_bind_and_looked_up_ones_do_not() -> None:
    options = [{"label": "One", "value": 1}, {"__lv": {"label": "Two", "value": 2}}, 3]
    for value in (1, 2, 3):
        assert (
            prop_values.checked([prop("n", "integer", options=options)], {"n": value}, whole=True).props["n"] == value
        )
    with pytest.raises(Invalid, match="choices"):
        prop_values.checked([prop("n", "integer", options=options)], {"n": 4}, whole=True)
    remote = prop("n", "integer", options=options, remoteOptions=True)
    assert prop_values.checked([remote], {"n": 4}, whole=True).props == {"n": 4}


def test_secrets_are_taken_out_of_what_is_kept() -> None:
    props = [prop("key", secret=True), prop("keys", "string[]", secret=True), prop("open")]
    given = {"key": {"__lv": {"label": "k", "value": "s-1"}}, "keys": ["s-2"], "open": "o"}
    assert prop_values.without_secrets(props, given) == ({"key": None, "keys": None, "open": "o"}, ["key", "keys"])
    assert prop_values.secrets_in(props, {"key": "s-1", "keys": ["s-2"], "open": "o"}) == ["s-1", "s-2"]


def test_credentials_of_a_request_are_taken_out_of_what_is_kept() -> None:
    props = [prop("request", "http_request")]
    request = {
        "url": "https://api.example",
        "auth": {"type": "basic", "username": "ada", "password": "s-1"},
        "headers": [{"name": "X-Api-Key", "value": "s-2"}, {"name": "Accept", "value": "text/plain"}],
    }
    kept, masked = prop_values.without_secrets(props, {"request": request})
    assert masked == ["request"]
    assert kept["request"]["auth"] == {"type": "basic", "username": "ada", "password": None}
    assert kept["request"]["headers"] == [
        {"name": "X-Api-Key", "value": None},
        {"name": "Accept", "value": "text/plain"},
    ]
    assert kept["request"]["url"] == "https://api.example"
    assert prop_values.secrets_in(props, {"request": request}) == ["s-1", "s-2"]
    plain = {"request": {"url": "https://api.example", "auth": {"type": "none"}}}
    assert prop_values.without_secrets(props, plain) == (plain, [])


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_what_is_nested_deeper_than_anybody_follows_is_refused(wrap: Callable[[Any], Any]) -> None:
    deepest = functools.reduce(lambda value, _: wrap(value), range(MAX_DEPTH - 1), "x")
    assert shallow(deepest) is deepest
    with pytest.raises(ValueError, match="more than 100 levels"):
        shallow(wrap(deepest))


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ('[["a", 1], ["b", null]]', [["a", 1], ["b", None]]),
        (' {"a": {"b": []}}', {"a": {"b": []}}),
        ([["a"]], [["a"]]),
        ({"a": 1}, {"a": 1}),
        (5, 5),
        ("5", "5"),
        ("hello", "hello"),
        (['{"a": 1}', ' {"b": []}'], [{"a": 1}, {"b": []}]),
        (['{"a": 1}', "{{name}}", "text"], ['{"a": 1}', "{{name}}", "text"]),
        ([], []),
    ],
)
def test_a_string_that_holds_json_is_taken_in_either_shape(value: Any, taken: Any) -> None:
    prop = {"name": "rows", "type": "string", "format": "json"}
    assert prop_values.checked([prop], {"rows": value}, whole=True).props == {"rows": taken}


@pytest.mark.parametrize("value", ["[1,", '{"a": 1', "{]", ["{]"]])
def test_a_string_that_begins_like_json_must_be_json(value: Any) -> None:
    prop = {"name": "rows", "type": "string", "format": "json"}
    with pytest.raises(Invalid, match=r"^rows is not valid: It must be JSON, such as \[1, 2\] or {}: "):
        prop_values.checked([prop], {"rows": value}, whole=True)
