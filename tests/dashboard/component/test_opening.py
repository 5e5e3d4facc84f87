"""Opening a component's form: as its person left it, and nobody else's."""

import re
from typing import Any

from tests.dashboard.component.task_form import URL, filled
from tests.dashboard.fake_components import ACCOUNT, Studio


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
