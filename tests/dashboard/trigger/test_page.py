"""The page of a trigger: what stands around its tabs, its events, runs and configuration, news, deleting it."""

import re
from html import unescape
from typing import Any

import pytest

from tests.dashboard.fake_components import ACCOUNT, install
from tests.dashboard.fake_triggers import Watchtower

ID = "dc_000000x"
URL = f"/triggers/{ID}"
PROPS = [
    ACCOUNT, {"name": "timer", "type": "$.interface.timer", "label": "Schedule"},
    {"name": "list", "type": "string", "label": "List", "options": [{"label": "At home", "value": "home"}]},
    {"name": "token", "type": "string", "label": "Token", "secret": True}, {"name": "db", "type": "$.service.db"},
]  # fmt: skip


@pytest.fixture
def tower(stage: Any, tower: Watchtower) -> Watchtower:
    """One trigger with a working and a broken address, two events, and somebody else's trigger."""
    install(stage.connect)
    me = stage.alice.id
    stage.connect.add_account(me, "tasks", name="Ada's tasks")
    given = {"tasks": {"authProvisionId": "apn_000000x"}, "list": "home", "token": None}
    accounts = [{"prop": "tasks", "id": "apn_000000x"}]
    tower.add(me, name="New task", configurable_props=PROPS, accounts=accounts, configured_props=given)
    tower.add("u_somebody")
    tower.add_endpoint(ID, "https://hooks.example.com/in")
    tower.add_endpoint(ID, "https://old.example.com/in", "deactivated", last_error="It answered 410 Gone.")
    tower.add_event(ID, {"id": 1, "title": "<script>alert(1)</script>"}, "New task: Paint")
    tower.add_event(ID, {"id": 2}, "New task: Sail")
    return tower


def test_page_says_how_it_is(stage: Any, tower: Watchtower) -> None:
    page = stage.signed_in().get(URL).text
    for text in (
        "<h1>New task</h1>", "polling", "Ada&#39;s tasks", "Every 15 minutes", "https://hooks.example.com/in",
        "Delivering", "Nothing is sent to old.example.com any more.", "It answered 410 Gone.", "Deliver again",
        "New task: Sail", "2 places", "Nothing was delivered in the last 24 hours",
    ):  # fmt: skip
        assert text in page, text
    assert page.index("New task: Sail") < page.index("New task: Paint")
    assert "<script>alert" not in page
    assert "whsec_" not in page
    for forbidden in (" style=", " onclick=", "hx-on", "javascript:", "<script>", "js:"):
        assert forbidden not in page


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"active": False}, "<b>Paused.</b>"),
        ({"active": False, "switched_off": "The account is gone."}, "The account is gone."),
        ({"waits": "Its account needs you."}, "<b>Waits for its account.</b> Its account needs you."),
        ({"last_error": "Tasks answered 500."}, "<b>Retrying.</b> Tasks answered 500."),
    ],
)
def test_what_stands_in_the_way_is_said(stage: Any, tower: Watchtower, more: dict[str, Any], said: str) -> None:
    tower.triggers[ID].update(more)
    assert said in stage.signed_in().get(URL).text


def test_an_address_that_failed_once_is_told_of(stage: Any, tower: Watchtower) -> None:
    state = {"consecutive_failures": 1, "last_error": "It answered 500."}
    tower.endpoints[ID][0]["delivery_state"].update(state)
    page = stage.signed_in().get(URL).text
    assert "hooks.example.com does not accept events.</b> It answered 500." in page
    assert "Retrying" in page


def test_workflows_are_called_by_their_names(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    tower.workflows[ID] = ["p_orders"]
    page = browser.get(URL).text
    assert "Workflow <b" in page and ">Flow p_orders</b>" in page and '<code class="dim">p_orders</code>' in page
    assert "3 places" in page and "does not accept events" not in page
    tower.flow_state = "penalty"
    assert "<b>Workflow Flow p_orders</b> does not accept events." in browser.get(URL).text
    stage.connect.extensions = False
    assert '<code class="dim">p_orders</code>' in browser.get(URL).text


def test_addresses_to_copy(stage: Any, tower: Watchtower) -> None:
    native = {"schedule": None, "app": "http", "emitter_type": "http", "endpoint_url": "https://x.example.com/h/k"}
    tower.triggers[ID].update(native)
    assert "<code>https://x.example.com/h/k</code>" in stage.signed_in().get(URL).text


def test_absent_and_foreign_triggers_are_alike(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    for path in ("", "/logs", "/configuration", "/deliveries", "/deliveries/dl_0", "/deliveries/resending",
                 "/deletion", "/events/evt_0", "/webhooks/wh_0/removal", "/webhooks/wh_0/rotation"):  # fmt: skip
        for trigger_id in ("dc_000001x", "dc_nothing"):
            assert browser.get(f"/triggers/{trigger_id}{path}").status_code == 404, path
    for path in ("/pause", "/test-event", "/deletion", "/webhooks", "/webhooks/wh_0/key", "/webhooks/wh_0/rotation",
                 "/webhooks/wh_0/reset", "/deliveries/dl_0/resend"):  # fmt: skip
        assert browser.send(f"/triggers/dc_000001x{path}", {"url": "https://a.example.com"}).status_code == 404, path
    assert "dc_000001x" in tower.triggers


def test_one_event_has_a_page_with_its_deliveries(stage: Any, tower: Watchtower) -> None:
    tower.add_delivery(ID, "delivered", event_id="evt_1", summary="This one")
    tower.add_delivery(ID, "delivered", event_id="evt_0", summary="Another one")
    page = stage.signed_in().get(f"{URL}/events/evt_1").text
    assert "This one" in page
    assert "Another one" not in page
    assert stage.signed_in().get(f"{URL}/events/evt_9").status_code == 404


def test_events_have_pages(stage: Any, tower: Watchtower) -> None:
    for number in range(30):
        tower.add_event(ID, number, f"Number {number}")
    browser = stage.signed_in()
    page = browser.get(URL).text
    older = re.search(r'rel="next" href="([^"]+)"', page)
    assert older
    assert "New task: Paint" not in page
    assert "Newest 25 of 32 events shown" in page
    rest = browser.get(older[1]).text
    assert "New task: Paint" in rest
    assert "7 of 32 events shown" in rest
    stage.connect.extensions = False
    assert "25 newest shown" in browser.get(URL).text


def news_url(page: str) -> str:
    found = re.search(r'id="news" hx-get="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


def test_new_rows_announce_themselves(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    url = news_url(browser.get(URL).text)
    assert browser.get(url, htmx=True).status_code == 204
    for number in range(3):
        tower.add_event(ID, number, f"Number {number}")
    part = browser.get(url, htmx=True).text
    assert f'href="{URL}"' in part
    assert "Show 3 new events" in part
    assert "Number 2" not in part  # rows never come by themselves
    assert browser.get(news_url(part), htmx=True).status_code == 204
    tower.endpoints[ID][0]["delivery_state"]["state"] = "penalty"
    part = browser.get(news_url(part), htmx=True).text
    assert "Retrying" in part
    assert "Show 3 new events" not in part  # it stands there already and stays as it is
    stage.connect.down = True
    assert browser.get(news_url(part), htmx=True).status_code == 204
    stage.connect.down = False
    del tower.triggers[ID]
    gone = browser.get(news_url(part), htmx=True).text
    assert "This trigger is gone." in gone
    assert "hx-trigger" not in gone


def test_news_lead_nowhere_else(stage: Any, tower: Watchtower) -> None:
    part = stage.signed_in().get(f"{URL}/news?tab=events&newest=evt_0&seen=&rows=https://evil.example/", htmx=True).text
    assert "evil.example" not in part


def test_logs_tell_of_runs(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    assert "It has not run yet" in browser.get(f"{URL}/logs").text
    line = {"k": "error", "ts": 1_800_000_000_000, "err": {"name": "Failed", "message": "No <b>answer</b>"}}
    tower.logs[ID] = [{"id": "r1", "at": stage.clock(), "cause": "timer", "ok": False, "took_ms": 12, "emitted": 0,
                       "error": "Tasks answered 500.", "os": [line]}]  # fmt: skip
    page = browser.get(f"{URL}/logs").text
    for text in ("Failed", "Schedule", "12 ms", "Tasks answered 500.", "No &lt;b&gt;answer&lt;/b&gt;", "1 run"):
        assert text in page


def test_configuration_shows_no_secret(stage: Any, tower: Watchtower) -> None:
    page = stage.signed_in().get(f"{URL}/configuration").text
    for text in ("Ada&#39;s tasks", "Every 15 minutes", "At home", "Kept secret", "v1.2.0", "Edit and redeploy"):
        assert text in page
    assert f'href="/apps/tasks/triggers/tasks-new-task?trigger={ID}"' in page


@pytest.mark.parametrize("htmx", [True, False])
def test_test_event(stage: Any, tower: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/test-event", htmx=htmx)
    text = answer.text if htmx else browser.get(answer.headers["Location"]).text
    assert "A test event is on its way to 2 places." in text
    tower.refusal = (409, "It is switched off.")
    assert "No test event was sent. It is switched off." in browser.send(f"{URL}/test-event", htmx=True).text


def test_deleting_says_what_ends_and_survives_a_failing_hook(stage: Any, tower: Watchtower) -> None:
    tower.add_delivery(ID, "waiting")
    browser = stage.signed_in()
    page = browser.get(f"{URL}/deletion").text
    for text in ("Patchbay stops watching Tasks.", "2 places get nothing more", "1 delivery that still waits",
                 "Its events, deliveries and logs are deleted."):  # fmt: skip
        assert text in page
    assert "anyway" not in page
    tower.hook_error = "Tasks did not take the webhook down."
    refused = browser.send(f"{URL}/deletion")
    assert refused.status_code == 422
    assert "It was not deleted. Tasks did not take the webhook down." in refused.text
    assert "Delete anyway" in refused.text
    assert ID in tower.triggers
    assert browser.send(f"{URL}/deletion", {"anyway": "1"}).headers["Location"] == "/triggers"
    assert ID not in tower.triggers


def test_accounts_say_what_uses_them(stage: Any, tower: Watchtower) -> None:
    stage.connect.uses["apn_000000x"] = [
        {"id": ID, "kind": "trigger", "name": "New task", "app": "tasks", "active": True}
    ]
    browser = stage.signed_in()
    assert '<td data-label="Used by">1 trigger</td>' in browser.get("/accounts").text
    assert not stage.connect.calls("/uses")  # a limit counts those
    account = browser.get("/accounts/apn_000000x").text
    assert f'href="{URL}">New task</a>' in account
    question = browser.get("/accounts/apn_000000x/disconnection").text
    assert "What will stop" in question
    assert "New task" in question
    stage.connect.extensions = False
    assert "Used by" not in browser.get("/accounts/apn_000000x").text


def test_activity_tells_of_triggers(stage: Any, tower: Watchtower) -> None:
    entry = {"id": "h", "at": "2027-01-15T08:00:00Z", "kind": "trigger_paused", "good": True,
             "sentence": "It was paused.", "account_id": "", "app": "tasks", "trigger_id": ID}  # fmt: skip
    stage.connect.activity_entries += [entry, entry | {"trigger_id": "dc_gone", "sentence": "It was deleted."}]
    page = stage.signed_in().get("/activity").text
    assert f'<a class="row-link" href="{URL}">New task</a>' in page
    assert "Trigger, no longer there" in page
