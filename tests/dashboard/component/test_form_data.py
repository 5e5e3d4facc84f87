"""Form data as browsers send it, the control of a prop, and JSON that people type."""

from typing import Any

import pytest

from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.component import form_data
from webapp.dashboard.component.form_data import InvalidValue


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
    assert form_data.control(prop(**data)) == control


def test_an_account_that_is_named_by_its_app_has_the_name_of_the_app() -> None:
    props = [prop(name="pagerduty", type="app"), prop(name="account", type="app"), prop(name="pagerduty")]
    labels = [row.label for row in form_data.labelled(props, App(name_slug="pagerduty", name="PagerDuty"))]
    assert labels == ["PagerDuty", "Account", "Pagerduty"]


def test_only_what_is_a_props_is_read_and_what_is_secret_never_kept() -> None:
    sent = form_data.sent(
        [("p.x", ["1"]), ("csrf_token", ["t"]), ("zz.x", ["2"]), ("pass.x", ["secret"]), ("p.y", [""])]
    )
    assert sent == {"p.x": ["1"], "pass.x": ["secret"], "p.y": [""]}
    assert form_data.keepable(sent, [prop(name="y", secret=True)]) == {"p.x": ["1"]}


def test_line_ends_and_rows() -> None:
    data = {"p.x": ["a\r\nb"], "k.x": ["a", "", " "], "v.x": ["1", "2", ""]}
    assert form_data.first(data, "p", prop()) == "a\nb"
    assert form_data.pairs(data, "k", "v", prop()) == [("a", "1"), ("", "2")]


@pytest.mark.parametrize(
    ("text", "says"), [("{", "line 1, column 2"), ("NaN", "plain numbers"), ("[" * 100_000, "less nesting")]
)
def test_json_that_is_none_says_where_it_breaks(text: str, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        form_data.parse_json("Body", text)
