"""SQL queries, HTTP requests and schedules: what is typed, and what a value looks like in the form."""

from typing import Any

import pytest

from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.component import structured
from webapp.dashboard.component.form_data import InvalidValue

HTTP = Prop.model_validate({"name": "x", "type": "http_request", "label": "Request"})
TIMER = Prop.model_validate({"name": "x", "type": "$.interface.timer", "label": "When"})
SQL = Prop.model_validate({"name": "x", "type": "sql", "label": "Query"})


@pytest.mark.parametrize(("prop", "kind"), [(HTTP, "http"), (TIMER, "timer"), (SQL, "sql")])
def test_nothing_filled_in_is_none(prop: Prop, kind: str) -> None:
    assert structured.READERS[kind](prop, {}) is None


@pytest.mark.parametrize("params", [[], [1, "a", None, True], ["  padded ", "1", "two\nlines", ""]])
def test_parameters_survive_the_form(params: list[Any]) -> None:
    data = structured.WRITERS["sql"](SQL, {"query": "SELECT $1", "params": params})
    assert structured.READERS["sql"](SQL, data)["params"] == params


def test_a_request_is_shown_without_what_signs_it_in() -> None:
    value = {
        "url": "https://a.test",
        "method": "put",
        "auth": {"type": "basic", "username": "ada", "password": "s3cret"},
    }
    data = structured.WRITERS["http"](HTTP, value)
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
        structured.READERS[kind](prop, data)


@pytest.mark.parametrize(
    ("seconds", "number", "unit"), [(90, "90", "seconds"), (900, "15", "minutes"), (86_400, "1", "days")]
)
def test_an_interval_is_shown_in_its_largest_unit(seconds: int, number: str, unit: str) -> None:
    data = structured.WRITERS["timer"](TIMER, {"intervalSeconds": seconds})
    assert (data["n.x"], data["u.x"]) == ([number], [unit])
    assert structured.READERS["timer"](TIMER, data) == {"intervalSeconds": seconds}
