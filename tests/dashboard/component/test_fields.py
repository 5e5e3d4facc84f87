"""The list inside a picker: its pages, what it says of how many there are, and why there is none.

What the control of a prop shows: its bounds, its choices, what is picked, and which fields stand open.
"""

import json
import re
from typing import Any

import pytest

from tests.dashboard.component.task_form import URL, filled
from tests.dashboard.fake_components import Studio, install
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Component, Option, Prop
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import fields, forms, prop_values
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.fields import Field, OptionList
from webapp.dashboard.component.forms import ComponentForm

ONE, TWO, THREE = Option("One", 1), Option("Two", 2), Option("Three", 3)


def test_options_search_and_next_page(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    first = browser.send(f"{URL}/options/project_id", filled(**{"p.project_id": ""})).text
    assert first.count('data-label="Project ') == 30
    assert "First 30 shown. Type to search all of them." in first
    assert "<html" in first
    assert studio.configured[-1]["page"] == 0
    assert studio.configured[-1]["configured_props"]["title"] == "Buy milk"
    carry = re.search(r'name="o.project_id" value="([^"]+)"', first)
    assert carry
    more = filled(**{"p.project_id": "", "o.project_id": carry[1].replace("&#34;", '"'), "more": "1"})
    second = browser.send(f"{URL}/options/project_id", more, htmx=True).text
    assert second.count("<li>") == 30
    assert "Project 31" in second
    assert "First 60 shown" in second
    assert second.count("data-focus") == 1
    assert (studio.configured[-1]["page"], studio.configured[-1]["prev_context"]) == (1, {"seen": 30})
    found = browser.send(f"{URL}/options/project_id", filled(**{"q.project_id": "project 20"}), htmx=True).text
    assert studio.configured[-1]["query"] == "project 20"
    assert 'data-label="Project 7" checked' in found  # what is chosen stays among what is found
    assert found.count("<li>") == 3  # the chosen one, 20 and 200
    assert "Load more" not in found
    nothing = browser.send(f"{URL}/options/project_id", filled(**{"q.project_id": "zzz"}), htmx=True).text
    assert "Nothing matches. Try other words." in nothing


def test_an_answer_that_repeats_itself_is_the_end(stage: Any, studio: Studio) -> None:
    studio.options["project_id"] = {"stringOptions": [f"s{number}" for number in range(12)]}
    browser = stage.signed_in()
    first = browser.send(f"{URL}/options/project_id", filled(), htmx=True).text
    assert "Load more" in first
    carry = re.search(r'name="o.project_id" value="([^"]+)"', first)
    assert carry
    again = filled(**{"o.project_id": carry[1].replace("&#34;", '"'), "more": "1"})
    second = browser.send(f"{URL}/options/project_id", again, htmx=True).text
    assert "Load more" not in second
    assert "All 12 shown." in second


def test_a_total_is_said_where_the_component_knows_it(stage: Any, studio: Studio) -> None:
    studio.options["project_id"] = {"options": studio.projects[:30], "context": {"total": 212, "next": "x"}}
    page = stage.signed_in().send(f"{URL}/options/project_id", filled(), htmx=True).text
    assert "First 30 of 212 shown. Type to search all of them." in page


@pytest.mark.parametrize("htmx", [True, False])
def test_failed_options_say_why_and_can_be_tried_again(stage: Any, studio: Studio, htmx: bool) -> None:
    studio.options["project_id"] = {"errors": ["Tasks <b>did not</b> answer."]}
    page = stage.signed_in().send(f"{URL}/options/project_id", filled(), htmx=htmx).text
    assert "Tasks &lt;b&gt;did not&lt;/b&gt; answer." in page
    assert "Try again" in page
    assert "Buy milk" in page or htmx


def test_tables_of_a_database_are_listed(stage: Any) -> None:
    studio = install(stage.connect)
    studio.add("tasks-sql", [{"name": "q", "type": "sql", "auth": {"app": "tasks"}, "label": "Query"}])
    info = {"public.users": {"metadata": {}, "schema": {"id": {"dataType": "integer"}, "<b>": {}}}}
    studio.options["q"] = {"context": {"dbInfo": info}}
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-sql/options/q"
    for htmx in (True, False):
        page = browser.send(url, {"d": "q", "p.q": "SELECT 1"}, htmx=htmx).text
        assert "1 table" in page
        assert "public.users" in page
        assert "integer" in page
        assert "&lt;b&gt;" in page
    studio.options["q"] = {"errors": ["The database is away."]}
    assert "The database is away." in browser.send(url, {}, htmx=True).text


@pytest.mark.parametrize(
    ("listed", "sentence"),
    [
        (OptionList(shown=0), "There is nothing to choose from here."),
        (OptionList(shown=3), ""),
        (OptionList(shown=4), "All 4 shown."),
        (OptionList(shown=30, more=True), "First 30 shown."),
        (OptionList(shown=30, total=1_212, more=True), "First 30 of 1,212 shown."),
        (OptionList(query="a", shown=0), "Nothing matches. Try other words."),
        (OptionList(query="a", shown=3), ""),
        (OptionList(query="a", shown=4), "All 4 found."),
        (OptionList(query="a", shown=30, more=True), "First 30 found."),
        (OptionList(query="a", shown=30, total=31), "First 30 of 31 found."),
    ],
)
def test_how_much_of_everything_is_shown(listed: OptionList, sentence: str) -> None:
    assert listed.sentence(Prop.model_validate({"name": "x"})) == sentence
    searchable = Prop.model_validate({"name": "x", "useQuery": True})
    goes_on = not listed.query and listed.more
    assert listed.sentence(searchable) == sentence + (" Type to search all of them." if goes_on else "")


def test_a_next_page_that_a_browser_made_up_is_the_first(stage: Any, studio: Studio) -> None:
    for carry in ("{", "[1]", '{"page": "1", "query": "", "shown": 30, "mark": ""}', '{"page": 1}'):
        with stage.request(method="POST", data={"o.project_id": carry, "q.project_id": "project 20"}):
            form = forms.from_request("actions", "tasks", "tasks-create-task")
            listed = fields.look_up(form, form.find("project_id"), more=True)
        assert (listed.page, listed.query) == (0, "project 20")
        assert [option.value for option in listed.options] == ["p20", "p200"]
        assert "prev_context" not in studio.configured[-1]


def test_a_failing_next_page_can_be_asked_for_again(stage: Any, studio: Studio) -> None:
    carry = '{"page": 1, "query": "", "shown": 60, "mark": "m", "context": {"seen": 60}}'
    studio.options["project_id"] = {"errors": ["Tasks is asleep."]}
    with stage.request(method="POST", data={"o.project_id": carry}):
        form = forms.from_request("actions", "tasks", "tasks-create-task")
        failed = fields.look_up(form, form.find("project_id"), more=True)
    assert (failed.problem, failed.page, failed.shown, failed.more) == ("Tasks is asleep.", 2, 60, True)
    assert json.loads(failed.carry) == json.loads(carry)


def field(prop: dict[str, Any], data: dict[str, list[str]] | None = None, options: OptionList | None = None) -> Field:
    read = Prop.model_validate({"name": "x"} | prop)
    return Field(read, prop_values.control(read), "f-x", data or {}, option_list=options)


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


def test_a_field_of_accounts_offers_those_of_its_app_with_the_newest_that_work_first() -> None:
    app = {"name_slug": "tasks"}
    accounts = [
        Account.model_validate({"id": f"apn_{name}", "created_at": f"2030-01-0{day}", "app": app, **state})
        for day, name, state in (
            (2, "dead", {"dead": True}), (4, "retrying", {"healthy": False}), (1, "old", {}), (3, "good", {})
        )
    ]  # fmt: skip
    other = Account.model_validate({"id": "apn_other", "app": {"name_slug": "github"}})
    groups = fields.field_groups(
        form({"name": "tasks", "type": "app", "app": "tasks"}, accounts=Overview((*accounts, other), 5, ""))
    )
    offered = [account.id for account in groups.required[0].accounts]
    assert offered == ["apn_good", "apn_old", "apn_retrying", "apn_dead"]
