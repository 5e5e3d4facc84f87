"""A component's form: fields that follow from answers, and secrets that are neither kept nor shown.

What a trigger is deployed with besides its props, and what redeploying one changes.

Opening a component's form: as its person left it, and nobody else's.
"""

import io
import json
import re
from html import unescape
from typing import Any

import pytest
from werkzeug.exceptions import NotFound as NoPage

from tests.dashboard.component.task_form import URL, filled, picked
from tests.dashboard.fake_components import ACCOUNT, FILES, Studio
from tests.dashboard.trigger.fake_triggers import Watchtower
from webapp import body_limits
from webapp.dashboard.client.models.accounts import Account, App
from webapp.dashboard.client.models.components import Component
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import forms
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.forms import ComponentForm, DeployForm
from webapp.errors import NotFound
from webapp.kit.clock import SECOND

PROPS = [
    {"name": "list", "type": "string", "optional": True},
    {"name": "note", "type": "string", "optional": True},
    {"name": "token", "type": "string", "secret": True},
]
STANDING = {
    "id": "dc_1", "name": "Mine", "emit_on_deploy": False,
    "configured_props": {"list": "home", "note": None, "token": "told"},
}  # fmt: skip
LIST = {"name": "list", "type": "string", "label": "List", "optional": True}


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


def form(data: dict[str, list[str]], trigger: dict[str, Any] | None = None, dynamic: str = "") -> ComponentForm:
    component = Component.model_validate({"key": "tasks-new", "configurable_props": PROPS})
    standing = Trigger.model_validate(trigger) if trigger else None
    props = DynamicProps(dynamic, tuple(PROPS)) if dynamic else DynamicProps()
    return ComponentForm(App(), component, data, props, Overview((), 0, ""), trigger=standing)


@pytest.mark.parametrize(
    ("data", "trigger", "answers"),
    [
        ({}, None, DeployForm("", "", True)),
        ({}, STANDING, DeployForm("Mine", "", False)),
        ({}, STANDING | {"name": "tasks-new"}, DeployForm("", "", False)),
        (
            {
                "t.deploy:name": [" Yours "],
                "t.deploy:url": [" https://a.example "],
                "t.deploy:emit": ["false", "true"],
            },
            STANDING,
            DeployForm("Yours", "https://a.example", True),
        ),
        ({"t.deploy:name": [""], "t.deploy:emit": ["false"]}, None, DeployForm("", "", False)),
    ],
    ids=["nobody touched it", "nobody touched what is edited", "nobody named what is edited", "answered", "emptied"],
)
def test_answers_are_what_was_typed_else_what_the_trigger_has(
    data: dict[str, list[str]], trigger: dict[str, Any] | None, answers: DeployForm
) -> None:
    assert forms.deploy_form(form(data, trigger)) == answers


@pytest.mark.parametrize(
    ("name", "url", "problems"),
    [
        ("n" * 201, "HTTPS://a.example", {}),
        ("", "http://a.example", {}),
        ("", "a.example", {"deploy:url": "Write the whole address, beginning with https:// or http://."}),
    ],
)
def test_what_is_wrong_is_said_by_field(name: str, url: str, problems: dict[str, str]) -> None:
    assert DeployForm(name, url, True).problems() == problems


def test_an_emptied_answer_is_removed_an_untouched_secret_stays_and_an_emptied_name_is_the_component_s() -> None:
    answers = DeployForm("Yours", "", True)
    assert forms.redeployment_body(form({}, STANDING), {"note": "x"}, answers) == {
        "configured_props": {"list": None, "note": "x"},
        "emit_on_deploy": True,
        "name": "Yours",
    }
    untouched = DeployForm("", "", False)
    assert forms.redeployment_body(form({}, STANDING, "dyp_1"), {"list": "shop", "token": "t"}, untouched) == {
        "configured_props": {"list": "shop", "token": "t"},
        "emit_on_deploy": False,
        "name": "tasks-new",
        "dynamic_props_id": "dyp_1",
    }


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
        form = forms.from_request("actions", "tasks", "tasks-create-task")
    assert (form.data["p.title"], form.data["p.urgent"]) == (["Sail"], ["false", "true"])
    assert "p.labels" not in form.data, "it stood there, and was emptied"
    assert not [name for name in form.data if "csrf" in name]


def test_what_nobody_touched_begins_with_defaults_and_an_account_of_ones_own(stage: Any, studio: Studio) -> None:
    stage.connect.add_account(stage.alice.id, "tasks", name="Second")
    studio.add("tasks-greet", [ACCOUNT, {"name": "text", "type": "string", "default": "Hello"}])
    with stage.request():
        assert forms.from_draft("actions", "tasks", "tasks-greet").data == {
            "p.tasks": ["apn_000000x"],
            "p.text": ["Hello"],
        }
    stage.connect.accounts.clear()
    with stage.request():
        assert forms.from_draft("actions", "tasks", "tasks-greet").data["p.tasks"] == []


def test_a_trigger_is_edited_with_its_own_component_only(stage: Any, studio: Studio, tower: Watchtower) -> None:
    tower.add(stage.alice.id, "tasks-new-task", configured_props={"list": "home"}, configurable_props=[LIST])
    with stage.request("/?trigger=dc_000000x"):
        form = forms.from_draft("triggers", "tasks", "tasks-new-task")
        assert (form.draft, [prop.name for prop in form.props], form.data) == (
            "dc_000000x",
            ["list"],
            {"p.list": ["home"]},
        )
        with pytest.raises(NoPage):
            forms.from_draft("triggers", "tasks", "tasks-task-done")
    with stage.request("/?trigger=dc_absent"), pytest.raises(NotFound, match=r"^There is no such trigger\.$"):
        forms.from_draft("triggers", "tasks", "tasks-new-task")


def test_a_page_is_sent_for_the_first_time_once(stage: Any) -> None:
    for data, first in (({"once": "a"}, True), ({"once": "a"}, False), ({"once": "b"}, True), ({}, True), ({}, True)):
        with stage.request(method="POST", data=data):
            assert forms.sent_first_time() is first


def attached(*names: str, size: int = 3) -> list[tuple[io.BytesIO, str]]:
    return [(io.BytesIO(b"x" * size), name) for name in names]


def test_files_come_with_the_form_itself_without_javascript(stage: Any, studio: Studio) -> None:
    studio.add("tasks-attach", FILES, annotations={"readOnlyHint": True})
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-attach"
    page = browser.get(url).text
    assert 'enctype="multipart/form-data"' in page and page.count('type="file"') == 2
    drawn = {"d": ["tasks", "file", "more"], "p.tasks": "apn_000000x"}
    saved = browser.send(f"{url}/draft", drawn | {"file.file": attached("a.pdf"), "file.more": attached("b", "c")})
    assert saved.status_code == 303
    page = browser.get(url).text
    assert "a.pdf · 3\xa0B" in page and "Saved as draft" in page
    kept = {name: unescape(value) for name, value in re.findall(r'name="(p.[fm][^"]*)"[^>]*value="([^"]*)"', page)}
    ran = browser.send(
        f"{url}/runs", drawn | {"p.file": kept["p.file"], "p.more": kept["p.more"], "m.more": "https://a.b"}
    )
    assert ran.status_code == 200
    (run,) = studio.ran
    key = "1day/proj_Fake1/development/stash_x/u/file_{}/{}"
    assert run["configured_props"]["file"] == key.format(1, "a.pdf")
    assert run["configured_props"]["more"] == [key.format(3, "c"), "https://a.b"]


def test_what_is_no_file_is_said_at_its_field(stage: Any, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limits, "FILE", 100)
    studio.add("tasks-attach", FILES)
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-attach"
    drawn = {"d": ["tasks", "file"], "p.tasks": "apn_000000x"}
    empty = browser.send(f"{url}/draft", drawn | {"file.file": attached("a.pdf", size=0)})
    assert (empty.status_code, "“a.pdf” is empty." in empty.text) == (422, True)
    studio.takes_files = False
    none = browser.send(f"{url}/runs", drawn | {"file.file": attached("a.pdf")})
    assert (none.status_code, "This service takes no files." in none.text) == (422, True)
    large = browser.send(f"{url}/draft", drawn | {"file.file": attached("a.pdf", size=101)})
    assert (large.status_code, "“a.pdf” is larger than 10\xa0MiB." in large.text) == (422, True)
    assert not studio.files and not studio.ran
