"""The page of a component without JavaScript: filling in, options, fields that follow, drafts."""

import json
import re
from typing import Any

import pytest

from tests.dashboard.fake_components import ACCOUNT, CREATE, Studio, install

URL = "/apps/tasks/actions/tasks-create-task"


@pytest.fixture
def studio(stage: Any) -> Studio:
    made = install(stage.connect)
    stage.connect.add_account(stage.alice.id, "tasks", name="Ada's tasks")
    return made


def picked(label: str, value: Any) -> str:
    return json.dumps({"label": label, "value": value}, separators=(",", ":"))


def filled(**more: Any) -> dict[str, Any]:
    return {
        "d": ["tasks", "project_id", "title", "urgent", "labels"],
        "p.tasks": "apn_000000x",
        "p.project_id": picked("Project 7", "p7"),
        "p.title": "Buy milk",
        "p.urgent": ["false", "true"],
        "p.labels": "home\r\nshop",
    } | more


def test_lists_with_filter_and_badges(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    actions = browser.get("/apps/tasks/actions").text
    assert f'href="{URL}"' in actions
    assert "Changes data" in actions
    assert "Read-only" in actions
    assert 'href="https://docs.example.com/"' in actions
    part = browser.get("/apps/tasks/actions?q=list", htmx=True)
    assert "<html" not in part.text
    assert URL not in part.text
    triggers = browser.get("/apps/tasks/triggers").text
    assert "Polling" in triggers
    assert "Instant" in triggers
    assert "Nothing matches" in browser.get("/apps/tasks/triggers?q=<b>").text
    assert "No actions yet" in browser.get("/apps/github/actions").text
    assert 'href="/apps/tasks/actions"' in browser.get("/apps/tasks").text


def test_page_asks_for_what_is_needed_first(stage: Any, studio: Studio) -> None:
    page = stage.signed_in().get(URL).text
    assert '<option value="apn_000000x" selected>Ada&#39;s tasks' in page
    order = [page.index(f'value="{name}"') for name in ("tasks", "project_id", "title")]
    assert order == sorted(order)
    assert page.index("2 optional fields") > order[-1]
    assert "Connect another" in page
    assert "Load options" in page
    assert '<a class="link" href="https://docs.example.com/"' in page
    assert 'value="db"' not in page
    for forbidden in (" style=", " onclick=", "hx-on", "javascript:", "<script>", "js:"):
        assert forbidden not in page
    assert not studio.configured


def test_unknown_and_foreign_components_are_absent(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    for url in ("/apps/tasks/actions/none", "/apps/github/actions/tasks-create-task",
                "/apps/tasks/triggers/tasks-create-task", "/apps/tasks/actions/tasks-new-task"):  # fmt: skip
        assert browser.get(url).status_code == 404, url


def test_a_key_of_the_installation_itself_has_a_page(stage: Any, studio: Studio) -> None:
    studio.add("~/hello", [ACCOUNT], name="Hello there")
    assert "Hello there" in stage.signed_in().get("/apps/tasks/actions/~/hello").text


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


def test_fields_follow_from_answers(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    part = browser.send(f"{URL}/fields", filled(), htmx=True).text
    assert studio.reloads[-1]["configured_props"]["project_id"] == {"__lv": {"label": "Project 7", "value": "p7"}}
    assert "Fields updated: added Due date, Cost code. Your other answers are kept." in part
    assert "From 1 to 99." in part
    assert "Buy milk" in part
    other = filled(**{"p.project_id": picked("Project 8", "p8"), "p.code": "5"})
    part = browser.send(f"{URL}/fields", other, htmx=True).text
    assert "removed Cost code" in part
    assert "Cost code" not in part.split("Fields updated")[0]
    calls = len(studio.reloads)
    browser.send(f"{URL}/fields", other, htmx=True)
    assert len(studio.reloads) == calls  # nothing that decides has changed
    back = browser.send(f"{URL}/fields", filled(), htmx=True).text
    assert "added Cost code" in back
    assert 'value="5"' in back  # an answer comes back with its field


def test_failed_reload_says_why_and_offers_to_try_again(stage: Any, studio: Studio) -> None:
    studio.reload_error = "Tasks is asleep."
    page = stage.signed_in().send(f"{URL}/fields", filled()).text
    assert page.count("Tasks is asleep.") == 2  # at the field, and in the status region
    assert "Try again" in page
    assert "Buy milk" in page


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


def test_secrets_are_neither_stored_nor_shown(stage: Any, studio: Studio) -> None:
    props = [ACCOUNT, {"name": "key", "type": "string", "label": "Key", "secret": True},
             {"name": "call", "type": "http_request", "label": "Call", "optional": True}]  # fmt: skip
    studio.add("tasks-secret", props, annotations={"readOnlyHint": True})
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-secret"
    form = {"d": ["tasks", "key", "call"], "p.tasks": "apn_000000x", "p.key": "canary-one", "url.call": "https://x.test",
            "auth.call": "bearer", "token.call": "canary-two"}  # fmt: skip
    saved = browser.send(f"{url}/draft", form, htmx=True).text
    assert "&lt;Key&gt;" in saved
    ran = browser.send(f"{url}/runs", form).text
    assert studio.ran[-1]["configured_props"]["key"] == "canary-one"
    assert studio.ran[-1]["configured_props"]["call"]["auth"] == {"type": "bearer", "token": "canary-two"}
    stored = json.dumps(stage.store.all("SELECT * FROM component_drafts"))
    for text in (saved, ran, browser.get(url).text, stored):
        assert "canary" not in text
    assert 'type="password"' in ran
    assert "data-reveal" in ran


def test_connect_another_comes_back_with_the_draft(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/accounts", filled(connect="tasks"))
    assert answer.status_code == 303
    assert "app=tasks" in answer.headers["Location"]
    made = list(stage.connect.tokens.values())[-1]
    assert made["success_redirect_uri"] == f"http://localhost{URL}"
    new = stage.connect.add_account(stage.alice.id, "tasks", name="Second")
    back = browser.get(f"{URL}?account_id={new['id']}")
    assert back.status_code == 303
    page = browser.get(back.headers["Location"]).text
    assert "Second is connected and chosen." in page
    assert f'<option value="{new["id"]}" selected>' in page
    assert "Buy milk" in page
    by_htmx = browser.send(f"{URL}/accounts", filled(connect="tasks"), htmx=True)
    assert "connectLink" in by_htmx.headers["HX-Redirect"]
    assert "Nothing was connected." in browser.get(f"{URL}?error=access_denied").text


def test_trigger_is_filled_in_and_never_run(stage: Any, studio: Studio) -> None:
    page = stage.signed_in().get("/apps/tasks/triggers/tasks-new-task").text
    assert 'action="/apps/tasks/triggers/tasks-new-task/deployment"' in page
    assert "Patchbay looks at Tasks on the schedule you choose" in page
    assert "Run action" not in page
    assert 'value="15"' in page  # 900 seconds, in minutes
    assert stage.signed_in().send("/apps/tasks/triggers/tasks-new-task/runs", {}).status_code == 404


def test_hostile_names_labels_and_options_are_only_text(stage: Any, studio: Studio) -> None:
    nasty = '"><script>alert(1)</script>'
    picks = {"label": nasty, "value": nasty}
    studio.add("tasks-nasty", [
        {"name": nasty, "type": "string", "label": nasty, "description": f"[x](javascript:alert(1)) {nasty}"},
        {"name": "o", "type": "string", "label": nasty, "options": [picks, "b", 3, None, {}]},
        {"name": "far", "type": "string", "label": nasty, "remoteOptions": True},
        {"name": "note", "type": "alert", "content": f"{nasty} [a](https://a.test/\"onclick=)"},
        {"name": "weird", "type": nasty, "label": nasty, "min": nasty, "default": {"a": [nasty]}},
    ], name=nasty, description=nasty)  # fmt: skip
    studio.options["far"] = {"options": [{"label": nasty, "value": nasty}], "context": {"a": nasty}}
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-nasty"
    pages = [
        browser.get(url).text,
        browser.send(f"{url}/options/far", {}).text,
        browser.get("/apps/tasks/actions").text,
    ]
    studio.run_answer = {"ret": {nasty: nasty}, "os": [{"k": "error", "err": {"name": nasty, "message": nasty}}]}
    form = {f"p.{nasty}": nasty, "p.o": picked(nasty, nasty), "p.far": picked(nasty, nasty), "p.weird": "1",
            "confirmed": "1"}  # fmt: skip
    pages.append(browser.send(f"{url}/runs", form).text)
    assert studio.ran[-1]["configured_props"] == {nasty: nasty, "o": nasty, "far": nasty, "weird": 1}
    for page in pages:
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
        assert '"onclick' not in page


def test_service_down_is_a_state_of_its_own(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    browser.get(URL)
    stage.connect.down = True
    page = browser.get(URL)
    assert page.status_code == 503
    assert "This form can’t be shown right now" in page.text
    part = browser.send(f"{URL}/options/project_id", filled(), htmx=True)
    assert part.status_code == 503


def test_page_without_extensions_stands(stage: Any, studio: Studio) -> None:
    stage.connect.extensions, studio.history = False, False
    page = stage.signed_in().get(URL)
    assert page.status_code == 200
    assert "Earlier runs" not in page.text
    assert CREATE[2]["label"] in page.text
