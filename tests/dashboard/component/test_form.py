"""A component's form: fields that follow from answers, and secrets that are neither kept nor shown."""

import json
from typing import Any

from tests.dashboard.component.task_form import URL, filled, picked
from tests.dashboard.fake_components import ACCOUNT, Studio


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
