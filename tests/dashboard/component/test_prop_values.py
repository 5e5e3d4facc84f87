"""Form data as browsers send it, the control of a prop, and JSON that people type.

Schedules in words, and those that nobody understands.

SQL queries, HTTP requests and schedules: what is typed, and what a value looks like in the form.

The control of every prop type and flag: what it looks like, what it sends, and what it says to a mistyped answer.
"""

import json
from typing import Any

import pytest

from tests.dashboard.fake_components import install
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Option, Prop
from webapp.dashboard.component import prop_values
from webapp.dashboard.component.prop_values import InvalidValue

HTTP = Prop.model_validate({"name": "x", "type": "http_request", "label": "Request"})
TIMER = Prop.model_validate({"name": "x", "type": "$.interface.timer", "label": "When"})
SQL = Prop.model_validate({"name": "x", "type": "sql", "label": "Query"})
OPTIONS = [{"label": "Low", "value": 1}, {"label": "High", "value": 2}]


def prop(**data: Any) -> Prop:
    return Prop.model_validate({"name": "x"} | data)


@pytest.mark.parametrize(
    ("data", "control"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "secret": True}, "secret"),
        ({"type": "string", "hidden": True}, ""),
        ({"type": "string", "readOnly": True}, "fixed"),
        ({"type": "string[]", "remoteOptions": True}, "picks"),
        ({"type": "integer", "options": [1, 2]}, "choice"),
        ({"type": "$.service.db"}, ""),
        ({"type": "$.discord.channel"}, "pick"),
        ({"type": "something new"}, "json"),
    ],
)
def test_the_control_of_a_prop(data: Any, control: str) -> None:
    assert prop_values.control(prop(**data)) == control


def test_an_account_that_is_named_by_its_app_has_the_name_of_the_app() -> None:
    props = [prop(name="pagerduty", type="app"), prop(name="account", type="app"), prop(name="pagerduty")]
    labels = [row.label for row in prop_values.labelled(props, App(name_slug="pagerduty", name="PagerDuty"))]
    assert labels == ["PagerDuty", "Account", "Pagerduty"]


def test_only_what_is_a_props_is_read_and_what_is_secret_never_kept() -> None:
    sent = prop_values.sent(
        [("p.x", ["1"]), ("csrf_token", ["t"]), ("zz.x", ["2"]), ("pass.x", ["secret"]), ("p.y", [""])]
    )
    assert sent == {"p.x": ["1"], "pass.x": ["secret"], "p.y": [""]}
    assert prop_values.keepable(sent, [prop(name="y", secret=True)]) == {"p.x": ["1"]}


def test_line_ends_and_rows() -> None:
    data = {"p.x": ["a\r\nb"], "k.x": ["a", "", " "], "v.x": ["1", "2", ""]}
    assert prop_values.first(data, "p", prop()) == "a\nb"
    assert prop_values.pairs(data, "k", "v", prop()) == [("a", "1"), ("", "2")]


@pytest.mark.parametrize(
    ("text", "says"), [("{", "line 1, column 2"), ("NaN", "plain numbers"), ("[" * 100_000, "less nesting")]
)
def test_json_that_is_none_says_where_it_breaks(text: str, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        prop_values.parse_json("Body", text)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ({"intervalSeconds": 1}, "Every second"),
        ({"intervalSeconds": 90}, "Every 90 seconds"),
        ({"intervalSeconds": 900}, "Every 15 minutes"),
        ({"intervalSeconds": 7_200}, "Every 2 hours"),
        ({"intervalSeconds": 86_400}, "Every day"),
        ({"cron": "nonsense"}, "Cron nonsense (UTC)"),
        ({"intervalSeconds": True}, ""),
        (None, ""),
    ],
)
def test_in_words(schedule: Any, words: str) -> None:
    assert prop_values.schedule_in_words(schedule) == words


def test_a_cron_expression_is_reported_with_its_zone() -> None:
    words = prop_values.schedule_in_words({"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"})
    assert "09:00" in words
    assert words.endswith("(Europe/Berlin)")


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        ({"cron": "0 9 * * 9"}, "is not a cron expression"),
        ({"cron": "0 9 30 2 *"}, "is not a cron expression"),
        ({"cron": "0 9 * * *", "timezone": "Mars/Base"}, "needs a time zone"),
    ],
)
def test_one_that_cannot_be(schedule: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        prop_values.check_schedule("When", schedule)
    prop_values.check_schedule("When", {"intervalSeconds": 5})


@pytest.mark.parametrize(("prop", "kind"), [(HTTP, "http"), (TIMER, "timer"), (SQL, "sql")])
def test_nothing_filled_in_is_none(prop: Prop, kind: str) -> None:
    assert prop_values.READERS[kind](prop, {}) is None


@pytest.mark.parametrize("params", [[], [1, "a", None, True], ["  padded ", "1", "two\nlines", ""]])
def test_parameters_survive_the_form(params: list[Any]) -> None:
    data = prop_values.WRITERS["sql"](SQL, {"query": "SELECT $1", "params": params})
    assert prop_values.READERS["sql"](SQL, data)["params"] == params


def test_a_request_is_shown_without_what_signs_it_in() -> None:
    value = {
        "url": "https://a.test",
        "method": "put",
        "auth": {"type": "basic", "username": "ada", "password": "s3cret"},
    }
    data = prop_values.WRITERS["http"](HTTP, value)
    assert (data["method.x"], data["user.x"], data["auth.x"]) == (["PUT"], ["ada"], ["basic"])
    assert "s3cret" not in str(data)


@pytest.mark.parametrize(
    ("prop", "kind", "data", "says"),
    [
        (HTTP, "http", {"url.x": ["https://a.test"], "method.x": ["STEAL"]}, "Choose a method"),
        (HTTP, "http", {"url.x": ["https://a.test"], "type.x": ["application/json"], "raw.x": ["{"]}, "not valid JSON"),
        (TIMER, "timer", {"n.x": ["0"], "u.x": ["minutes"]}, "whole number of at least 1"),
        (TIMER, "timer", {"mode.x": ["cron"], "c.x": ["0 9 *"]}, "five cron fields"),
    ],
)
def test_a_mistake_gets_a_sentence(prop: Prop, kind: str, data: Any, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        prop_values.READERS[kind](prop, data)


@pytest.mark.parametrize(
    ("seconds", "number", "unit"), [(90, "90", "seconds"), (900, "15", "minutes"), (86_400, "1", "days")]
)
def test_an_interval_is_shown_in_its_largest_unit(seconds: int, number: str, unit: str) -> None:
    data = prop_values.WRITERS["timer"](TIMER, {"intervalSeconds": seconds})
    assert (data["n.x"], data["u.x"]) == ([number], [unit])
    assert prop_values.READERS["timer"](TIMER, data) == {"intervalSeconds": seconds}


KEY = "1day/proj_x/development/stash_y/u/file_Zz9/a.pdf"


def option(label: str, value: Any, **more: Any) -> str:
    return json.dumps({"label": label, "value": value} | more)


# type and flags · what is typed · what is sent
GOOD: list[tuple[dict[str, Any], dict[str, list[str]], Any]] = [
    ({"type": "string"}, {"p.x": ["two\r\nlines"]}, "two\nlines"),
    ({"type": "string", "secret": True}, {"p.x": ["s3cret"]}, "s3cret"),
    ({"type": "string", "format": "file-ref"}, {"m.x": ["https://a.test/b.pdf"]}, "https://a.test/b.pdf"),
    ({"type": "string", "format": "file-ref"}, {"p.x": [option("a.pdf · 1 KB", KEY)], "m.x": [""]}, KEY),
    ({"type": "string[]", "format": "file-ref"}, {"p.x": [option("a.pdf", KEY)], "m.x": ["https://a.test/b\n c"]},
     [KEY, "https://a.test/b", "c"]),
    ({"type": "string", "options": ["a", "b"]}, {"p.x": [option("a", "a")]}, "a"),
    ({"type": "string[]"}, {"p.x": ["a\r\n\r\n b "]}, ["a", "b"]),
    ({"type": "string[]", "options": ["a", "b"]}, {"p.x": [option("a", "a"), option("b", "b")]}, ["a", "b"]),
    ({"type": "string", "remoteOptions": True}, {"p.x": [option("A", "a")]}, "a"),
    ({"type": "string", "remoteOptions": True}, {"p.x": [option("A", "a")], "m.x": ["typed"]}, "typed"),
    ({"type": "string", "remoteOptions": True, "withLabel": True}, {"p.x": [option("A", "a")]},
     {"__lv": {"label": "A", "value": "a"}}),
    ({"type": "string[]", "remoteOptions": True}, {"p.x": [option("A", "a")], "m.x": ["b\nc"]}, ["a", "b", "c"]),
    ({"type": "string[]", "remoteOptions": True, "withLabel": True}, {"p.x": [option("A", "a")]},
     {"__lv": [{"label": "A", "value": "a"}]}),
    ({"type": "integer", "min": -2, "max": 9}, {"p.x": [" -2 "]}, -2),
    ({"type": "integer", "options": OPTIONS}, {"p.x": [option("High", 2)]}, 2),
    ({"type": "integer", "remoteOptions": True}, {"m.x": ["17"]}, 17),
    ({"type": "integer[]"}, {"p.x": ["1\n2"]}, [1, 2]),
    ({"type": "boolean"}, {"p.x": ["false", "true"]}, True),
    ({"type": "boolean"}, {"p.x": ["false"]}, False),
    ({"type": "boolean", "optional": True}, {"p.x": [""]}, prop_values.ABSENT),
    ({"type": "object"}, {"mode.x": ["rows"], "k.x": ["a", ""], "v.x": ["1", ""]}, {"a": "1"}),
    ({"type": "object"}, {"mode.x": ["json"], "p.x": ['{"a": [1]}']}, {"a": [1]}),
    ({"type": "any"}, {"p.x": ["[1, null]"]}, [1, None]),
    ({"type": "app", "app": "tasks"}, {"p.x": ["apn_1"]}, {"authProvisionId": "apn_1"}),
    ({"type": "alert", "content": "Hello"}, {}, prop_values.ABSENT),
    ({"type": "string", "optional": True}, {"p.x": [""]}, prop_values.ABSENT),
    ({"type": "string", "hidden": True, "default": "h"}, {"p.x": ["forged"]}, "h"),
    ({"type": "string", "readOnly": True, "default": "r"}, {"p.x": ["forged"]}, "r"),
    ({"type": "string", "disabled": True, "default": "d"}, {"p.x": ["forged"]}, "d"),
    ({"type": "sql", "auth": {"app": "pg"}}, {"p.x": ["SELECT $1"], "v.x": ["7\nada\n\"7\""], "prep.x": ["1"]},
     {"value": "SELECT $1", "query": "SELECT $1", "params": [7, "ada", "7"], "usePreparedStatements": True,
      "auth": {"app": "pg"}}),
    ({"type": "http_request"},
     {"url.x": ["https://a.test"], "method.x": ["POST"], "hk.x": ["A", ""], "hv.x": ["1", ""], "qk.x": ["q"],
      "qv.x": ["2"], "type.x": ["application/json"], "raw.x": ["{}"], "auth.x": ["bearer"], "token.x": ["t"]},
     {"url": "https://a.test", "method": "POST", "headers": [{"name": "A", "value": "1"}],
      "params": [{"name": "q", "value": "2"}], "auth": {"type": "bearer", "token": "t"},
      "body": {"type": "raw", "contentType": "application/json", "mode": "raw", "raw": "{}"}}),
    ({"type": "$.interface.timer"}, {"mode.x": ["interval"], "n.x": ["15"], "u.x": ["minutes"]},
     {"intervalSeconds": 900}),
    ({"type": "$.interface.timer"}, {"mode.x": ["cron"], "c.x": ["0 9 * * 1-5"], "z.x": ["Europe/Berlin"]},
     {"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"}),
    ({"type": "$.airtable.baseId", "appProp": "a"}, {"p.x": [option("Base", "app1")]}, "app1"),
    ({"type": "$.airtable.tableId", "baseIdProp": "a"}, {"m.x": ["tbl1"]}, "tbl1"),
    ({"type": "$.airtable.viewId", "tableIdProp": "a"}, {"m.x": ["viw1"]}, "viw1"),
    ({"type": "$.airtable.fieldId", "tableIdProp": "a"}, {"m.x": ["fld1"]}, "fld1"),
    ({"type": "$.discord.channel", "appProp": "a"}, {"p.x": [option("general", "9")]}, "9"),
    ({"type": "$.discord.channel[]", "appProp": "a"}, {"p.x": [option("a", "1"), option("b", "2")]}, ["1", "2"]),
    ({"type": "a type of tomorrow"}, {"p.x": ['"text"']}, "text"),
    *[({"type": name}, {"p.x": ["forged"]}, prop_values.ABSENT)
      for name in ("$.service.db", "$.interface.http", "$.interface.apphook", "dir", "data_store")],
]  # fmt: skip

BAD: list[tuple[dict[str, Any], dict[str, list[str]], str]] = [
    ({"type": "string"}, {"p.x": [""]}, "Fill in “The x”."),
    ({"type": "string", "options": ["a"]}, {"p.x": ["a"]}, "Choose “The x”."),
    ({"type": "string", "remoteOptions": True}, {}, "Choose “The x”."),
    ({"type": "string[]"}, {"p.x": ["\n"]}, "Fill in “The x”."),
    ({"type": "app", "app": "tasks"}, {"p.x": [""]}, "Choose “The x”."),
    ({"type": "integer"}, {"p.x": ["1.5"]}, "“The x” must be a whole number, such as 5."),
    ({"type": "integer"}, {"p.x": ["٣"]}, "“The x” must be a whole number, such as 5."),
    ({"type": "integer", "min": 1}, {"p.x": ["0"]}, "“The x” must be at least 1."),
    ({"type": "integer", "max": 9}, {"p.x": ["10"]}, "“The x” must be at most 9."),
    ({"type": "integer[]"}, {"p.x": ["1\ntwo"]}, "“The x” must be a whole number, such as 5."),
    ({"type": "integer", "remoteOptions": True}, {"m.x": ["x"]}, "“The x” must be a whole number, such as 5."),
    ({"type": "object"}, {"mode.x": ["json"], "p.x": ["{"]}, "“The x” is not valid JSON (line 1, column 2)."),
    ({"type": "object"}, {"mode.x": ["json"], "p.x": ["[]"]}, "“The x” must be a JSON object"),
    ({"type": "object"}, {"mode.x": ["rows"], "k.x": [""], "v.x": ["1"]}, "Give every row of “The x” a name."),
    ({"type": "any"}, {"p.x": ["hello"]}, "“The x” is not valid JSON"),
    ({"type": "any"}, {"p.x": ["NaN"]}, "“The x” is not JSON that can be sent."),
    ({"type": "any"}, {"p.x": ["[" * 100_000]}, "“The x” is not"),
    ({"type": "sql"}, {"p.x": [" "]}, "Fill in “The x”."),
    ({"type": "http_request"}, {"url.x": [""]}, "Fill in “The x”."),
    ({"type": "http_request"}, {"url.x": ["https://a"], "method.x": ["BREW"]}, "Choose a method for “The x”."),
    ({"type": "http_request"}, {"url.x": ["https://a"], "type.x": ["application/json"], "raw.x": ["{"]},
     "“The x: body” is not valid JSON"),
    ({"type": "$.interface.timer"}, {"mode.x": ["interval"], "n.x": ["0"]}, "whole number of at least 1"),
    ({"type": "$.interface.timer"}, {"mode.x": ["cron"], "c.x": ["daily"]}, "needs five cron fields"),
]  # fmt: skip


def named(data: dict[str, Any]) -> Prop:
    return Prop.model_validate({"name": "x", "label": "The x"} | data)


@pytest.mark.parametrize(("data", "fields", "value"), GOOD)
def test_what_is_typed_is_what_is_sent(data: dict[str, Any], fields: dict[str, list[str]], value: Any) -> None:
    assert prop_values.read_value(named(data), fields) == value


@pytest.mark.parametrize(("data", "fields", "sentence"), BAD)
def test_a_mistyped_answer_gets_a_sentence(data: dict[str, Any], fields: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        prop_values.read_value(named(data), fields)
    assert str(caught.value).startswith(sentence) or sentence in str(caught.value)


@pytest.mark.parametrize(("data", "fields", "value"), [case for case in GOOD if case[2] is not prop_values.ABSENT])
def test_a_value_is_shown_so_that_it_is_sent_again(
    data: dict[str, Any], fields: dict[str, list[str]], value: Any
) -> None:
    prop = named(data)
    if prop.secret or data["type"] == "http_request":  # what is secret is not shown
        return
    assert prop_values.read_value(prop, prop_values.write_value(prop, value)) == value


def test_every_control_is_drawn(stage: Any) -> None:
    """One page for all types: each has its label, its control and its name; what is infrastructure has none."""
    studio = install(stage.connect)
    stage.connect.add_account(stage.alice.id, "tasks")
    cases = [data for data, _, _ in GOOD]
    props = [{"label": f"Label {number}"} | data | {"name": f"n{number}"} for number, data in enumerate(cases)]
    studio.add("tasks-all", props)
    studio.add("tasks-all-news", props, kind="source")
    browser = stage.signed_in()
    assert "Cron" not in browser.get("/apps/tasks/actions/tasks-all").text  # an action has no schedule
    page = browser.get("/apps/tasks/triggers/tasks-all-news").text
    for number, data in enumerate(cases):
        kind = prop_values.control(Prop.model_validate({"name": f"n{number}"} | data))
        shown = f'<input type="hidden" name="d" value="n{number}">' in page
        assert shown == (kind not in ("", "alert")), data
        if shown:
            assert f'id="f-n{number}' in page
            assert f"Label {number}" in page
    for piece in ('type="password"', "data-reveal", "data-picker", "Load options", "data-tokens", "One per line.",
                  "From -2 to 9.", 'readonly', "disabled", "Use a prepared statement", "Show tables", "Bearer token",
                  "Cron", "Hello", "Edit as JSON", "Type a value instead", "Not set"):  # fmt: skip
        assert piece in page, piece


def test_rows_and_json_are_two_ways_to_write_an_object(stage: Any) -> None:
    studio = install(stage.connect)
    studio.add("tasks-object", [{"name": "o", "type": "object", "label": "Details"}])
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-object"
    rows = {"d": "o", "mode.o": "rows", "k.o": "a", "v.o": "1"}
    as_json = browser.send(f"{url}/rows/o", rows | {"to": "json"}, htmx=True).text
    assert "&#34;a&#34;: &#34;1&#34;" in as_json
    assert "<html" not in as_json
    again = browser.send(f"{url}/rows/o", {"d": "o", "mode.o": "json", "p.o": '{"b": "2"}', "to": "rows"}).text
    assert 'name="k.o" id="f-o-k1" value="b"' in again
    stays = browser.send(f"{url}/rows/o", {"d": "o", "mode.o": "json", "p.o": '{"b": 2}', "to": "rows"}).text
    assert "contains values that are not text, so it stays JSON." in stays
    more = browser.send(f"{url}/rows/o", rows).text
    assert 'aria-label="Name 2"' in more


def test_files_are_shown_again_and_an_address_stays_typed() -> None:
    one = Prop(name="x", type="string", format="file-ref")
    several = Prop(name="x", type="string[]", format="file-ref")
    shown = prop_values.write_value(several, [KEY, "https://a.test/b.pdf"])
    assert shown == {
        "p.x": [option("a.pdf", KEY).replace(", ", ",").replace(": ", ":")],
        "m.x": ["https://a.test/b.pdf"],
    }
    assert prop_values.read_value(several, shown) == [KEY, "https://a.test/b.pdf"]
    assert prop_values.file_id(KEY) == "file_Zz9" and prop_values.file_id("https://a.test/file_Zz9/a.pdf") == ""
    new = prop_values.with_file(one, {"p.x": ["old"], "m.x": ["https://a.test"]}, Option("b", KEY))
    assert prop_values.read_value(one, new) == KEY and new["m.x"] == [""]
    assert len(prop_values.with_file(several, shown, Option("b", KEY))["p.x"]) == 2
