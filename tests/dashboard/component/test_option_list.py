"""The list inside a picker: its pages, what it says of how many there are, and why there is none."""

import json
import re
from typing import Any

import pytest

from tests.dashboard.component.task_form import URL, filled
from tests.dashboard.fake_components import Studio, install
from webapp.dashboard.client.models.components import Prop
from webapp.dashboard.component import opening, option_list
from webapp.dashboard.component.option_list import OptionList


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
            form = opening.posted("actions", "tasks", "tasks-create-task")
            listed = option_list.look_up(form, form.find("project_id"), more=True)
        assert (listed.page, listed.query) == (0, "project 20")
        assert [option.value for option in listed.options] == ["p20", "p200"]
        assert "prev_context" not in studio.configured[-1]


def test_a_failing_next_page_can_be_asked_for_again(stage: Any, studio: Studio) -> None:
    carry = '{"page": 1, "query": "", "shown": 60, "mark": "m", "context": {"seen": 60}}'
    studio.options["project_id"] = {"errors": ["Tasks is asleep."]}
    with stage.request(method="POST", data={"o.project_id": carry}):
        form = opening.posted("actions", "tasks", "tasks-create-task")
        failed = option_list.look_up(form, form.find("project_id"), more=True)
    assert (failed.problem, failed.page, failed.shown, failed.more) == ("Tasks is asleep.", 2, 60, True)
    assert json.loads(failed.carry) == json.loads(carry)
