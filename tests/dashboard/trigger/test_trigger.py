"""The log of a trigger's runs: those that looked and found nothing are one line.

The page of a trigger: its events, runs and configuration, and where else it is told of.
"""

import re
from typing import Any

import pytest

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL
from webapp.dashboard.client.models.triggers import TriggerRun
from webapp.dashboard.trigger.trigger import Quiet, folded


def runs(pattern: str) -> list[TriggerRun]:
    """A run a letter: ``.`` found nothing, ``e`` something, ``x`` failed, ``r`` was set off by a request."""
    return [
        TriggerRun(id=f"tr_{number}", cause="request" if kind == "r" else "timer", ok=kind != "x", emitted=kind == "e")
        for number, kind in enumerate(pattern)
    ]


def test_those_in_a_row_that_found_nothing_fold() -> None:
    lines = folded(runs("..e....x...r.."))
    assert [len(line.runs) if isinstance(line, Quiet) else line.id for line in lines] == [
        "tr_0", "tr_1", "tr_2", 4, "tr_7", 3, "tr_11", "tr_12", "tr_13",
    ]  # fmt: skip
    assert folded([]) == []


def test_the_page_says_how_often_it_looked(stage: Any, deployed: Watchtower) -> None:
    deployed.logs[ID] = [
        {"id": f"r{number}", "at": stage.clock() - number * 60_000, "cause": "timer", "ok": True, "took_ms": 9,
         "emitted": 1 if number == 5 else 0, "error": None, "os": []}
        for number in range(7)
    ]  # fmt: skip
    page = stage.signed_in().get(f"{URL}/logs").text
    assert "Checked 5 times, nothing new" in page
    assert page.count('<li id="r-r') == 7


def test_absent_and_foreign_triggers_are_alike(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    for path in ("", "/logs", "/configuration", "/deliveries", "/deliveries/dl_0", "/deliveries/resending",
                 "/deletion", "/events/evt_0", "/webhooks/wh_0/removal", "/webhooks/wh_0/rotation"):  # fmt: skip
        for trigger_id in ("dc_000001x", "dc_nothing"):
            assert browser.get(f"/triggers/{trigger_id}{path}").status_code == 404, path
    for path in ("/pause", "/test-event", "/deletion", "/webhooks", "/webhooks/wh_0/key", "/webhooks/wh_0/rotation",
                 "/webhooks/wh_0/reset", "/deliveries/dl_0/resend"):  # fmt: skip
        assert browser.send(f"/triggers/dc_000001x{path}", {"url": "https://a.example.com"}).status_code == 404, path
    assert "dc_000001x" in deployed.triggers


def test_one_event_has_a_page_with_its_deliveries(stage: Any, deployed: Watchtower) -> None:
    deployed.add_delivery(ID, "delivered", event_id="evt_1", summary="This one")
    deployed.add_delivery(ID, "delivered", event_id="evt_0", summary="Another one")
    page = stage.signed_in().get(f"{URL}/events/evt_1").text
    assert "This one" in page
    assert "Another one" not in page
    assert stage.signed_in().get(f"{URL}/events/evt_9").status_code == 404


def test_what_an_event_holds_is_drawn_when_it_is_opened(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    page = browser.get(URL).text
    assert f'hx-get="{URL}/events/evt_0/payload"' in page
    assert "alert(1)" not in page
    payload = browser.get(f"{URL}/events/evt_0/payload", htmx=True).text
    assert '<span class="s">&#34;&lt;script&gt;alert(1)&lt;/script&gt;&#34;</span>' in payload
    assert browser.get(f"{URL}/events/evt_9/payload", htmx=True).status_code == 404
    assert browser.get("/triggers/dc_000001x/events/evt_0/payload", htmx=True).status_code == 404


def test_events_have_pages(stage: Any, deployed: Watchtower) -> None:
    for number in range(30):
        deployed.add_event(ID, number, f"Number {number}")
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


def test_logs_tell_of_runs(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    assert "It has not run yet" in browser.get(f"{URL}/logs").text
    line = {"k": "error", "ts": 1_800_000_000_000, "err": {"name": "Failed", "message": "No <b>answer</b>"}}
    deployed.logs[ID] = [{"id": "r1", "at": stage.clock(), "cause": "timer", "ok": False, "took_ms": 12, "emitted": 0,
                       "error": "Tasks answered 500.", "os": [line]}]  # fmt: skip
    page = browser.get(f"{URL}/logs").text
    for text in ("Failed", "Checked", "12 ms", "Tasks answered 500.", "No &lt;b&gt;answer&lt;/b&gt;", "1 run"):
        assert text in page


def test_configuration_shows_no_secret(stage: Any, deployed: Watchtower) -> None:
    page = stage.signed_in().get(f"{URL}/configuration").text
    for text in ("Ada&#39;s tasks", "Every 15 minutes", "At home", "Kept secret", "1.2.0", "Edit"):
        assert text in page
    assert f'href="/apps/tasks/triggers/tasks-new-task?trigger={ID}"' in page


@pytest.mark.parametrize("htmx", [True, False])
def test_test_event(stage: Any, deployed: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/test-event", htmx=htmx)
    text = answer.text if htmx else browser.get(answer.headers["Location"]).text
    assert "A test event is on its way to 2 places." in text
    deployed.refusal = (409, "It is switched off.")
    assert "No test event was sent. It is switched off." in browser.send(f"{URL}/test-event", htmx=True).text


def test_accounts_say_what_uses_them(stage: Any, deployed: Watchtower) -> None:
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


def test_activity_tells_of_triggers(stage: Any, deployed: Watchtower) -> None:
    entry = {"id": "h", "at": "2027-01-15T08:00:00Z", "kind": "trigger_paused", "good": True,
             "sentence": "It was paused.", "account_id": "", "app": "tasks", "trigger_id": ID}  # fmt: skip
    stage.connect.activity_entries += [entry, entry | {"trigger_id": "dc_gone", "sentence": "It was deleted."}]
    page = stage.signed_in().get("/activity").text
    assert f'<a class="row-link" href="{URL}">New task</a>' in page
    assert "Trigger, no longer there" in page
