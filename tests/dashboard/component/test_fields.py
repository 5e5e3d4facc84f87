"""What the control of a prop shows: its bounds, its choices, what is picked, and which fields stand open."""

from typing import Any

import pytest

from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Component, Option, Prop
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import fields, form_data
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.fields import Field
from webapp.dashboard.component.form import ComponentForm
from webapp.dashboard.component.option_list import OptionList

ONE, TWO, THREE = Option("One", 1), Option("Two", 2), Option("Three", 3)


def field(prop: dict[str, Any], data: dict[str, list[str]] | None = None, options: OptionList | None = None) -> Field:
    read = Prop.model_validate({"name": "x"} | prop)
    return Field(read, form_data.control(read), "f-x", data or {}, option_list=options)


def form(*props: dict[str, Any], data: dict[str, list[str]] | None = None, accounts: Overview) -> ComponentForm:
    component = Component.model_validate({"key": "tasks-do", "component_type": "action", "configurable_props": props})
    return ComponentForm(App.model_validate({"name_slug": "tasks"}), component, data or {}, DynamicProps(), accounts)


NOBODY = Overview((), 0, "")


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"min": 1, "max": 1_000_000}, "From 1 to 1,000,000."),
        ({"min": 0}, "At least 0."),
        ({"max": -5}, "At most -5."),
        ({}, ""),
    ],
)
def test_the_bounds_of_a_number_in_words(bounds: dict[str, int], words: str) -> None:
    assert field({"type": "integer"} | bounds).limits == words


@pytest.mark.parametrize(
    ("prop", "data", "words"),
    [
        ({"type": "string", "remoteOptions": True}, {"p.x": ['{"label":"One","value":1}']}, "One"),
        ({"type": "string", "remoteOptions": True}, {"p.x": ['{"label":"One","value":1}'], "m.x": ["typed"]}, "typed"),
        (
            {"type": "string[]", "remoteOptions": True},
            {"p.x": ['{"label":"One","value":1}', '{"label":"Two","value":2}'], "m.x": ["a\r\n \r\nb"]},
            "One, Two, a, b",
        ),
        ({"type": "string", "remoteOptions": True}, {"p.x": ["made up"]}, ""),
    ],
)
def test_a_closed_picker_says_what_is_picked(prop: dict[str, Any], data: dict[str, list[str]], words: str) -> None:
    assert field(prop, data).picked == words


def test_an_open_list_holds_what_is_chosen_once_and_first() -> None:
    prop, chosen = {"type": "string", "remoteOptions": True}, {"p.x": ['{"label":"Three","value":3}']}
    assert field(prop, chosen).listed == [THREE]
    assert field(prop, chosen, OptionList((ONE, TWO))).listed == [THREE, ONE, TWO]
    assert field(prop, chosen, OptionList((ONE, THREE))).listed == [ONE, THREE]
    assert field(prop, chosen, OptionList((TWO, THREE), page=1)).listed == [TWO], "it stands on the page before"


@pytest.mark.parametrize(
    ("options", "radios"),
    [
        (["a", "b", "c", "d"], True),
        (["a", "b", "c", "d", "e"], False),
        (["l" * 30, "m" * 30], True),
        (["l" * 61], False),
    ],
)
def test_few_short_choices_stand_side_by_side(options: list[str], radios: bool) -> None:
    assert field({"type": "string", "options": options}).as_radios is radios


@pytest.mark.parametrize(
    ("prop", "data", "filled"),
    [
        ({"type": "string"}, {}, False),
        ({"type": "string"}, {"p.x": [""]}, False),
        ({"type": "string"}, {"p.x": ["a"]}, True),
        ({"type": "string", "default": "a"}, {"p.x": ["a"]}, False),
        ({"type": "string", "default": "a"}, {"p.x": ["b"]}, True),
        ({"type": "boolean"}, {"p.x": ["false"]}, False),
        ({"type": "boolean"}, {"p.x": ["false", "true"]}, True),
    ],
)
def test_filled_is_what_somebody_answered(prop: dict[str, Any], data: dict[str, list[str]], filled: bool) -> None:
    assert field(prop, data).filled is filled


@pytest.mark.parametrize(("default", "text"), [("a", "a"), (None, ""), ({"b": [1]}, '{"b": [1]}')])
def test_what_nobody_can_change_is_text(default: Any, text: str) -> None:
    assert field({"type": "any", "readOnly": True, "default": default}).fixed == text


def test_a_schedule_is_said_in_words_once_it_is_one() -> None:
    every_5_minutes = {"mode.x": ["interval"], "n.x": ["5"], "u.x": ["minutes"]}
    assert field({"type": "$.interface.timer"}, every_5_minutes).schedule_in_words == "Every 5 minutes"
    no_minute = {"mode.x": ["cron"], "c.x": ["61 * * * *"]}
    assert field({"type": "$.interface.timer"}, no_minute).schedule_in_words == ""


@pytest.mark.parametrize(
    ("more", "tick"), [({}, True), ({"optional": True}, False), ({"optional": True, "default": False}, True)]
)
def test_a_boolean_that_can_be_left_unsaid_is_no_tick(more: dict[str, Any], tick: bool) -> None:
    assert field({"type": "boolean"} | more).as_check is tick


def test_an_editor_of_rows_has_an_empty_one_to_write_in() -> None:
    assert field({"type": "object"}, {"k.x": ["a"], "v.x": ["1"]}).rows("k", "v") == [("a", "1"), ("", "")]


def test_optional_fields_stand_open_when_something_is_in_them() -> None:
    title, due = {"name": "title", "type": "string"}, {"name": "due", "type": "string", "optional": True}
    groups = fields.field_groups(form(title, due, accounts=NOBODY))
    assert ([item.prop.name for item in groups.required], [item.prop.name for item in groups.optional]) == (
        ["title"],
        ["due"],
    )
    assert (groups.unfolded, groups.reloads) == (False, False)
    assert fields.field_groups(form(title, due, data={"p.due": ["soon"]}, accounts=NOBODY)).unfolded
    assert fields.field_groups(form(title, due, accounts=NOBODY), {"due": "Write a date."}).unfolded
    assert fields.field_groups(form(title, due, accounts=NOBODY), None, {"due": OptionList()}).unfolded
    assert fields.field_groups(form(due, accounts=NOBODY)).unfolded, "nothing else is asked"
    assert fields.field_groups(form(title | {"reloadProps": True}, due, accounts=NOBODY)).reloads


def test_a_field_of_accounts_offers_those_of_its_app_with_broken_ones_last() -> None:
    app = {"name_slug": "tasks"}
    accounts = [
        Account.model_validate({"id": "apn_dead", "dead": True, "app": app}),
        Account.model_validate({"id": "apn_good", "app": app}),
        Account.model_validate({"id": "apn_other", "app": {"name_slug": "github"}}),
    ]
    groups = fields.field_groups(
        form({"name": "tasks", "type": "app", "app": "tasks"}, accounts=Overview(tuple(accounts), 3, ""))
    )
    assert [account.id for account in groups.required[0].accounts] == ["apn_good", "apn_dead"]
