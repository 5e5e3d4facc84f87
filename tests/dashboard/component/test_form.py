"""A component's form: fields that follow from answers, and secrets that are neither kept nor shown."""

import json
from typing import Any

import pytest
from werkzeug.exceptions import NotFound as NoPage

from tests.dashboard.component.task_form import URL, filled, picked
from tests.dashboard.fake_components import ACCOUNT, Studio
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Component
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.form import ComponentForm


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
    stored = json.dumps(stage.store.all("SELECT * FROM viewer_drafts"))
    for text in (saved, ran, browser.get(url).text, stored):
        assert "canary" not in text
    assert 'type="password"' in ran
    assert "data-reveal" in ran


def form_of(
    *props: dict[str, Any], data: dict[str, list[str]], app: str = "tasks", kind: str = "action", **more: Any
) -> ComponentForm:
    component = Component.model_validate({"key": "tasks-do", "component_type": kind, "configurable_props": props})
    accounts = (Account.model_validate({"id": "apn_1", "app": {"name_slug": "tasks"}}),)
    whole = App.model_validate({"name_slug": app, "auth_type": "keys" if app == "tasks" else "none"})
    return ComponentForm(whole, component, data, DynamicProps(), Overview(accounts, 1, ""), **more)


def test_values_are_what_the_service_takes_and_errors_stand_by_prop() -> None:
    number = {"name": "n", "type": "integer", "label": "Count", "max": 9}
    good = form_of(ACCOUNT, number, data={"p.tasks": ["apn_1"], "p.n": ["5"]})
    assert good.values() == ({"tasks": {"authProvisionId": "apn_1"}, "n": 5}, {})
    bad = form_of(ACCOUNT, number, data={"p.tasks": ["apn_2"], "p.n": ["10"]})
    assert bad.values() == (
        {},
        {"tasks": "Choose one of your accounts for “Account”.", "n": "“Count” must be at most 9."},
    )


def test_a_trigger_keeps_its_secret_unless_another_is_typed() -> None:
    secret = {"name": "token", "type": "string", "label": "Token", "secret": True}
    standing = Trigger.model_validate({"id": "dc_1"})
    assert form_of(secret, data={}).values() == ({}, {"token": "Fill in “Token”."})
    assert form_of(secret, data={}, trigger=standing).values() == ({}, {})
    assert form_of(secret, data={"p.token": ["new"]}, trigger=standing).values() == ({"token": "new"}, {})
    assert form_of(secret, data={"p.token": ["new"]}).shown_values() == {"token": "<Token>"}


def test_what_makes_no_sense_here_is_left_out() -> None:
    own = {"name": "schedule", "type": "app", "app": "schedule"}
    timer = {"name": "timer", "type": "$.interface.timer"}
    names = [prop.name for prop in form_of(own, timer, ACCOUNT, data={}, app="schedule").visible_props]
    assert names == ["tasks"], "its own app has no accounts, and an action no schedule"
    trigger = form_of(own, timer, data={}, app="schedule", kind="source")
    assert [prop.name for prop in trigger.visible_props] == ["timer"]
    with pytest.raises(NoPage):
        trigger.find("schedule")


def test_the_values_of_an_earlier_run_fill_the_form_but_for_secrets() -> None:
    props = ({"name": "title", "type": "string"}, {"name": "token", "type": "string[]", "secret": True})
    filled_in = form_of(*props, data={"p.title": ["before"], "p.token": ["t"]}).filled(
        {"title": "a", "token": ["canary"]}
    )
    assert filled_in.data == {"p.title": ["a"]}
