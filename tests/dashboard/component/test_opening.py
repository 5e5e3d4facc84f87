"""Opening a component's form: as its person left it, and nobody else's."""

import re
from typing import Any

import pytest
from werkzeug.exceptions import NotFound as NoPage

from tests.dashboard.component.task_form import URL, filled
from tests.dashboard.fake_components import ACCOUNT, Studio
from tests.dashboard.trigger.fake_triggers import Watchtower
from webapp.dashboard.component import opening
from webapp.errors import NotFound
from webapp.kit.clock import SECOND

LIST = {"name": "list", "type": "string", "label": "List", "optional": True}


def test_the_app_of_a_form_is_asked_for_once(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    assert [browser.get(URL).status_code for _ in range(3)] == [200, 200, 200]
    assert len(stage.connect.calls("/apps/tasks")) == 1


def test_a_component_is_read_again_after_a_few_seconds_and_an_authors_own_at_once(stage: Any, studio: Studio) -> None:
    own = "~/create-task"
    studio.components[own] = studio.components["tasks-create-task"] | {"key": own}
    browser = stage.signed_in()
    for wait_s, count in ((0, 1), (9, 1), (1, 2)):
        stage.clock.advance(wait_s * SECOND)
        assert browser.get(URL).status_code == 200
        assert len(stage.connect.calls("/actions/tasks-create-task")) == count
    assert [browser.get(f"/apps/tasks/actions/{own}").status_code for _ in range(3)] == [200, 200, 200]
    assert len(stage.connect.calls(f"/actions/{own}")) == 3


def test_unknown_and_foreign_components_are_absent(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    for url in ("/apps/tasks/actions/none", "/apps/github/actions/tasks-create-task",
                "/apps/tasks/triggers/tasks-create-task", "/apps/tasks/actions/tasks-new-task"):  # fmt: skip
        assert browser.get(url).status_code == 404, url


def test_a_key_of_the_installation_itself_has_a_page(stage: Any, studio: Studio) -> None:
    studio.add("~/hello", [ACCOUNT], name="Hello there")
    assert "Hello there" in stage.signed_in().get("/apps/tasks/actions/~/hello").text


def test_draft_reopens_exactly_and_is_ones_own(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    saved = browser.send(f"{URL}/draft", filled(**{"p.title": 'Ha"<x>'}), htmx=True).text
    assert "Saved as draft" in saved
    assert "<html" not in saved
    page = browser.get(URL).text
    assert "Ha&#34;&lt;x&gt;" in page
    assert 'data-label="Project 7" checked' in page
    assert '<span class="clip" data-picked data-empty="Choose…">Project 7</span>' in page
    assert re.search(r'name="p.urgent" value="true" checked', page)
    assert "home\nshop" in page
    from webapp.people import users

    users.create(stage.store, stage.clock, email="bob@example.com", password="a long password", role="member")
    assert "Ha&#34;" not in stage.signed_in("bob@example.com").get(URL).text
    assert browser.send(f"{URL}/draft/reset", {}).status_code == 303
    assert "Ha&#34;" not in browser.get(URL).text


def test_mistakes_are_part_of_a_draft(stage: Any, studio: Studio) -> None:
    studio.add("tasks-number", [ACCOUNT, {"name": "n", "type": "integer", "label": "Count"}])
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-number"
    browser.send(f"{url}/draft", {"d": ["tasks", "n"], "p.n": "many"})
    assert 'value="many"' in browser.get(url).text


def test_fields_that_were_not_on_the_page_keep_what_the_draft_has(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    browser.send(f"{URL}/draft", filled())
    with stage.request(method="POST", data={"d": ["title", "labels"], "p.title": "Sail", "csrf_token": "t"}):
        form = opening.posted("actions", "tasks", "tasks-create-task")
    assert (form.data["p.title"], form.data["p.urgent"]) == (["Sail"], ["false", "true"])
    assert "p.labels" not in form.data, "it stood there, and was emptied"
    assert not [name for name in form.data if "csrf" in name]


def test_what_nobody_touched_begins_with_defaults_and_an_account_of_ones_own(stage: Any, studio: Studio) -> None:
    stage.connect.add_account(stage.alice.id, "tasks", name="Second")
    studio.add("tasks-greet", [ACCOUNT, {"name": "text", "type": "string", "default": "Hello"}])
    with stage.request():
        assert opening.opened("actions", "tasks", "tasks-greet").data == {
            "p.tasks": ["apn_000000x"],
            "p.text": ["Hello"],
        }
    stage.connect.accounts.clear()
    with stage.request():
        assert opening.opened("actions", "tasks", "tasks-greet").data["p.tasks"] == []


def test_a_trigger_is_edited_with_its_own_component_alone(stage: Any, studio: Studio, tower: Watchtower) -> None:
    tower.add(stage.alice.id, "tasks-new-task", configured_props={"list": "home"}, configurable_props=[LIST])
    with stage.request("/?trigger=dc_000000x"):
        form = opening.opened("triggers", "tasks", "tasks-new-task")
        assert (form.draft, [prop.name for prop in form.props], form.data) == (
            "dc_000000x",
            ["list"],
            {"p.list": ["home"]},
        )
        with pytest.raises(NoPage):
            opening.opened("triggers", "tasks", "tasks-task-done")
    with stage.request("/?trigger=dc_absent"), pytest.raises(NotFound, match=r"^There is no such trigger\.$"):
        opening.opened("triggers", "tasks", "tasks-new-task")


def test_a_page_is_sent_for_the_first_time_once(stage: Any) -> None:
    for data, first in (({"once": "a"}, True), ({"once": "a"}, False), ({"once": "b"}, True), ({}, True), ({}, True)):
        with stage.request(method="POST", data=data):
            assert opening.sent_first_time() is first
