"""Deploying a trigger from its component's page: once, with its key shown once; redeploying one that stands."""

import re
from typing import Any

import pytest

from tests.dashboard.fake_components import ACCOUNT, Studio, install
from tests.dashboard.trigger.fake_triggers import Watchtower

URL = "/apps/tasks/triggers/tasks-new-task"
TIMER = {"name": "timer", "type": "$.interface.timer", "label": "Schedule", "default": {"intervalSeconds": 900}}
SECRET = {"name": "token", "type": "string", "label": "Token", "secret": True}
LIST = {"name": "list", "type": "string", "label": "List", "optional": True}


@pytest.fixture
def studio(stage: Any) -> Studio:
    made = install(stage.connect)
    made.components["tasks-new-task"]["configurable_props"] = [ACCOUNT, TIMER, LIST]
    stage.connect.add_account(stage.alice.id, "tasks", name="Ada's tasks")
    return made


def filled(**more: Any) -> dict[str, Any]:
    return {
        "d": ["tasks", "timer", "list", "deploy:name", "deploy:url", "deploy:emit"], "p.tasks": "apn_000000x",
        "mode.timer": "interval", "n.timer": "5", "u.timer": "minutes", "t.deploy:name": "", "t.deploy:url": "",
        "t.deploy:emit": ["false", "true"], "once": "a",
    } | more  # fmt: skip


def test_form_says_the_schedule_in_words(stage: Any, studio: Studio, tower: Watchtower) -> None:
    browser = stage.signed_in()
    page = browser.get(URL).text
    assert "Every 15 minutes" in page
    assert 'name="t.deploy:emit" value="true" id="deploy-emit"' in page
    assert '<option value="Europe/Berlin">' in page
    for forbidden in (" style=", " onclick=", "hx-on", "javascript:", "<script>", "js:"):
        assert forbidden not in page
    cron = filled(**{"mode.timer": "cron", "c.timer": "0 9 * * 1-5", "z.timer": "Europe/Berlin"})
    part = browser.send(f"{URL}/schedule/timer", cron, htmx=True).text
    assert "At 09:00 on Monday through Friday (Europe/Berlin)" in part
    for wrong, said in (({"z.timer": "Mars/Base"}, "is none"), ({"c.timer": "61 * * * *"}, "is not a cron"),
                        ({"c.timer": "0 0 30 2 *"}, "Schedule")):  # fmt: skip
        answer = browser.send(URL + "/deployment", cron | wrong)
        assert answer.status_code == 422
        assert said in answer.text
    assert not tower.deployed


@pytest.mark.parametrize("htmx", [True, False])
def test_deployed_once_with_its_key_shown_once(stage: Any, studio: Studio, tower: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    given = filled(**{"t.deploy:name": "Watch tasks", "t.deploy:url": "https://hooks.example.com/in", "p.list": "home"})
    browser.send(f"{URL}/draft", given)
    assert 'value="Watch tasks"' in browser.get(URL).text  # the draft holds it
    answer = browser.send(f"{URL}/deployment", given, htmx=htmx)
    assert answer.status_code == (204 if htmx else 303)
    there = answer.headers["HX-Redirect" if htmx else "Location"]
    assert tower.deployed == [{
        "external_user_id": stage.alice.id, "id": "tasks-new-task", "emit_on_deploy": True,
        "configured_props": {"tasks": {"authProvisionId": "apn_000000x"}, "timer": {"intervalSeconds": 300},
                             "list": "home"},
        "webhook_url": "https://hooks.example.com/in",
        "name": "Watch tasks",
    }]  # fmt: skip
    assert tower.updates == [{"name": "Watch tasks"}]
    first, second = browser.get(there).text, browser.get(there).text
    assert "whsec_canary0" in first
    assert "It is shown only once." in first
    assert "whsec_" not in second
    assert "<h1>Watch tasks</h1>" in second
    assert "Watch tasks" not in browser.get(URL).text  # and the draft is gone
    again = browser.send(f"{URL}/deployment", given)
    assert again.headers["Location"] == "/triggers"
    assert len(tower.deployed) == 1


def test_what_the_service_refuses_stands_on_the_form(stage: Any, studio: Studio, tower: Watchtower) -> None:
    browser = stage.signed_in()
    tower.refusal = (400, "Tasks did not accept the subscription. Check the account.")
    answer = browser.send(f"{URL}/deployment", filled(**{"p.list": "home"}), htmx=True)
    assert answer.status_code == 422
    assert "Tasks did not accept the subscription." in answer.text
    assert "home" in answer.text
    once = re.findall(r'name="once" value="([^"]+)"', answer.text)
    assert once
    assert "a" not in once  # so that the next try is a new one
    tower.refusal = None
    wrong = browser.send(f"{URL}/deployment", filled(once="b", **{"t.deploy:url": "hooks.example.com"}))
    assert wrong.status_code == 422
    assert "beginning with https://" in wrong.text
    assert browser.send(f"{URL}/deployment", filled(once="c")).status_code == 303
    assert browser.send("/apps/tasks/actions/tasks-create-task/deployment", filled()).status_code == 404


@pytest.mark.parametrize(
    ("field", "text", "id_", "said"),
    [
        ("name", "n" * 201, "deploy-name", "Use 1 to 200 printable characters."),
        ("url", "https://a.example/" + "x" * 1_983, "deploy-url", "An address can have at most 2,000 characters."),
    ],
)
def test_how_long_a_name_and_an_address_may_be_is_said_by_the_service_at_its_field(
    stage: Any, studio: Studio, tower: Watchtower, field: str, text: str, id_: str, said: str
) -> None:
    answer = stage.signed_in().send(f"{URL}/deployment", filled(**{f"t.deploy:{field}": text}))
    assert answer.status_code == 422 and not tower.deployed
    assert "Correct one field." in answer.text
    assert re.search(rf'id="{id_}-err">.*?<span>{said}', answer.text)


def test_redeploying_keeps_secrets_and_removes_what_is_emptied(stage: Any, studio: Studio, tower: Watchtower) -> None:
    props = [ACCOUNT, TIMER, LIST, SECRET]
    tower.add(stage.alice.id, name="Mine", configurable_props=props, emit_on_deploy=False, configured_props={
        "tasks": {"authProvisionId": "apn_000000x"}, "timer": {"intervalSeconds": 3600}, "list": "home", "token": None,
    })  # fmt: skip
    browser = stage.signed_in()
    edit = f"{URL}?trigger=dc_000000x"
    page = browser.get(edit).text
    assert "Edit “Mine”" in page
    assert ">\nhome</textarea>" in page
    assert "Every hour" in page
    assert "Stays as it is unless you type another one." in page
    assert 'id="deploy-emit" aria-describedby="deploy-emit-help">' in page
    names = ["tasks", "timer", "list", "token", "deploy:name", "deploy:emit"]
    given = filled(d=names, **{"p.list": "", "p.token": "", "t.deploy:name": "Yours", "t.deploy:emit": ["false"]})
    answer = browser.send(f"{URL}/deployment?trigger=dc_000000x", given)
    assert answer.headers["Location"] == "/triggers/dc_000000x"
    assert tower.updates == [{
        "name": "Yours", "emit_on_deploy": False,
        "configured_props": {"tasks": {"authProvisionId": "apn_000000x"}, "timer": {"intervalSeconds": 300},
                             "list": None},
    }]  # fmt: skip
    browser.send(f"{URL}/deployment?trigger=dc_000000x", given | {"p.token": "new one", "once": "b"})
    assert tower.updates[1]["configured_props"]["token"] == "new one"
    assert "Edit" not in browser.get(URL).text.split("</h1>")[0]
    tower.add("u_somebody", name="Not yours")
    assert browser.get(f"{URL}?trigger=dc_000001x").status_code == 404


def test_what_comes_to_an_oauth_client_is_said_before_anything_is_filled_in(stage: Any, studio: Studio) -> None:
    hook = {"name": "events", "type": "$.interface.apphook", "appProp": "tasks"}
    studio.add("tasks-told", [{"name": "tasks", "type": "app", "app": "tasks"}, hook], kind="source")
    page = stage.signed_in().get("/apps/tasks/triggers/tasks-told").text
    assert "are set up once for everybody, on the OAuth client" in page
    assert "set up once for everybody" not in stage.signed_in().get(URL).text


def test_native_triggers_need_no_account(stage: Any, studio: Studio, tower: Watchtower) -> None:
    studio.add("schedule-custom-interval", [TIMER | {"name": "cron"}], kind="source", name="Custom interval")
    url = "/apps/schedule/triggers/schedule-custom-interval"
    browser = stage.signed_in()
    page = browser.get(url).text
    assert "It sends an event on its schedule." in page
    assert "No account connected yet" not in page
    answer = browser.send(f"{url}/deployment", {"d": ["cron"], "mode.cron": "interval", "n.cron": "2",
                                                "u.cron": "hours", "once": "a"})  # fmt: skip
    assert answer.status_code == 303
    assert tower.deployed[0]["configured_props"] == {"cron": {"intervalSeconds": 7200}}


def test_a_trigger_without_a_name_has_its_component_s_and_is_called_by_it_in_the_reader_s_language(
    stage: Any, studio: Studio, tower: Watchtower, spoken: None
) -> None:
    browser = stage.signed_in()
    studio.components["tasks-new-task"]["name"] = "New task"
    browser.send("/settings", {"theme": "auto", "time_zone": "UTC", "language": "de"})
    assert "„Neue Aufgabe“" in browser.get(URL).text
    assert browser.send(URL + "/deployment", filled()).status_code == 303
    (trigger,) = tower.triggers.values()
    assert trigger["name"] == "New task"
    page = browser.get(f"/triggers/{trigger['id']}").text
    assert "Neue Aufgabe" in page and "New task" not in page
