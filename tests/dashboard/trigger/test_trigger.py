"""The page of a trigger: its events, deliveries, log and configuration, and where else it is told of.

The switch of a trigger, and what stands around it once it was pressed.

A trigger says which version it runs with, and that its app is gone; a click moves it to the newest.

Deleting a trigger: what ends with it is said first, and a failing app does not keep it.
"""

import re
from typing import Any

import pytest

from tests.dashboard.fake_components import install
from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL, news_url

PAGE = "/triggers/dc_000000x"
GONE = "It waits, because Tasks was removed from this service. It continues when the app is added back."


def test_absent_and_foreign_triggers_are_alike(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    for path in ("", "/logs", "/configuration", "/deliveries", "/deliveries/dlv_0", "/deliveries/resending",
                 "/deletion", "/events/evt_0", "/webhooks/wh_0/removal", "/webhooks/wh_0/rotation"):  # fmt: skip
        for trigger_id in ("dc_000001x", "dc_nothing"):
            assert browser.get(f"/triggers/{trigger_id}{path}").status_code == 404, path
    for path in ("/pause", "/test-event", "/deletion", "/webhooks", "/webhooks/wh_0/key", "/webhooks/wh_0/rotation",
                 "/webhooks/wh_0/reset", "/deliveries/dlv_0/resend"):  # fmt: skip
        assert browser.send(f"/triggers/dc_000001x{path}", {"url": "https://a.example.com"}).status_code == 404, path
    assert "dc_000001x" in deployed.triggers


def test_one_event_has_a_page_with_its_deliveries(stage: Any, deployed: Watchtower) -> None:
    deployed.add_delivery(ID, "delivered", event_id="evt_1", summary="This one")
    deployed.add_delivery(ID, "delivered", event_id="evt_0", summary="Another one")
    page = stage.signed_in().get(f"{URL}/events/evt_1").text
    assert "This one" in page and f'href="{URL}">New task</a>' in page
    assert "Another one" not in page
    assert stage.signed_in().get(f"{URL}/events/evt_9").status_code == 404


def test_what_an_event_holds_is_drawn_when_it_is_opened(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    page = browser.get(URL).text
    assert f'hx-get="{URL}/events/evt_0"' in page
    assert "alert(1)" not in page
    payload = browser.get(f"{URL}/events/evt_0", htmx=True).text
    assert (
        '<span class="s">&#34;&lt;script&gt;alert(1)&lt;/script&gt;&#34;</span>' in payload and "<html" not in payload
    )
    assert f'href="{URL}/events/evt_0/payload.json"' in payload
    saved = browser.get(f"{URL}/events/evt_0/payload.json")
    assert saved.json == {"id": 1, "title": "<script>alert(1)</script>"}
    assert saved.headers["Content-Disposition"] == "attachment; filename=payload.json"
    for path in (f"{URL}/events/evt_9", "/triggers/dc_000001x/events/evt_0"):
        assert browser.get(path, htmx=True).status_code == browser.get(f"{path}/payload.json").status_code == 404


def test_events_have_pages_with_and_without_logs(stage: Any, deployed: Watchtower) -> None:
    for number in range(60):
        stage.clock.advance(1_000)
        deployed.add_event(ID, number, f"Number {number}")
    browser = stage.signed_in()
    for extensions in (True, False):
        stage.connect.extensions = extensions
        page = browser.get(URL).text
        older = re.search(r'rel="next" href="([^"]+)"', page)
        assert older and "25 entries shown" in page and "Number 59" in page
        middle = browser.get(older[1]).text
        oldest = re.search(r'rel="next" href="([^"]+)"', middle)
        assert oldest and "25 entries shown" in middle and "Number 34" in middle
        assert "New task: Paint" not in page + middle
        rest = browser.get(oldest[1]).text
        assert "New task: Paint" in rest and "12 entries shown" in rest and 'rel="next"' not in rest
        assert ('id="by-period"' in page) is extensions, "what lists only events has no filters"
        assert "New task: Sail" in browser.get(f"{URL}/events/evt_1").text


def test_the_log_has_runs_and_folds_those_that_found_nothing(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    deployed.events[ID].clear()
    assert "No runs yet" in browser.get(f"{URL}/logs").text
    line = {"k": "error", "ts": 1_800_000_000_000, "err": {"name": "Failed", "message": "No <b>answer</b>"}}
    deployed.add_run(ID, ok=False, error="Tasks answered 500.", took_ms=12, os=[line])
    for emitted in (0, 0, 0, 0, 2, 0, 0):
        deployed.add_run(ID, emitted=emitted)
    page = browser.get(f"{URL}/logs").text
    assert "Checked 4 times, nothing new" in page and page.count('class="log"') == 8
    for text in ("Checked", "12\xa0ms", "Tasks answered 500.", "2 events"):
        assert text in page
    assert browser.get("/logs").text.count('class="log"') == 2, "among everything else, polls say nothing"
    opened = browser.get(f"{URL}/logs/tr_0", htmx=True).text
    assert "No &lt;b&gt;answer&lt;/b&gt;" in opened and 'class="error"' in opened
    assert "It wrote no log." in browser.get(f"{URL}/logs/tr_1", htmx=True).text


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
    assert "A test event is on its way to 2 endpoints." in text
    deployed.refusal = (409, "It is switched off.")
    assert "No test event was sent. It is switched off." in browser.send(f"{URL}/test-event", htmx=True).text


def test_entries_are_counted_only_where_chips_show_how_many(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()

    def counted(address: str) -> bool:
        before = len(stage.connect.seen)
        assert browser.get(address).status_code < 300
        calls = [call for call in stage.connect.seen[before:] if call[1].endswith(("/overview", "/logs"))]
        return "counts=false" not in calls[-1][3]["QUERY_STRING"]

    news = news_url(browser.get(URL).text)
    addresses = (URL, f"{URL}/deliveries", f"{URL}/logs", news, "/logs/export.csv")
    assert [counted(address) for address in addresses] == [False, False, True, False, False]


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


def test_the_logs_name_triggers(stage: Any, deployed: Watchtower) -> None:
    entry = {"id": "ev_h", "at": "2027-01-15T08:00:00Z", "kind": "account", "outcome": "trigger_paused", "app": "tasks",
             "status": "succeeded", "title": "It was paused.", "account_id": "", "trigger_id": ID}  # fmt: skip
    gone = entry | {"id": "ev_g", "trigger_id": "dc_gone", "title": "It was deleted."}
    stage.connect.log_entries += [entry, gone]
    browser = stage.signed_in()
    page = browser.get("/logs").text
    assert "New task</small>" in page and "Deleted trigger" in page
    assert f'href="{URL}">Open trigger</a>' in browser.get("/logs/ev_h").text
    assert "Open trigger" not in browser.get("/logs/ev_g").text
    assert f'href="/logs?id={ID}">Logs of this trigger</a>' in browser.get(URL).text


@pytest.fixture
def watched(stage: Any, tower: Watchtower) -> Watchtower:
    """Two triggers, one of them paused, and somebody else's."""
    install(stage.connect)
    tower.add(stage.alice.id, name="Runs")
    tower.add(stage.alice.id, name="Stands", active=False)
    tower.add("u_somebody", name="Not yours")
    return tower


@pytest.mark.parametrize("htmx", [True, False])
def test_pause_and_resume(stage: Any, watched: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    answer = browser.send("/triggers/dc_000000x/pause", htmx=htmx)
    assert watched.updates == [{"active": False}]
    if htmx:
        assert 'aria-checked="false"' in answer.text
        assert 'hx-delete="/triggers/dc_000000x/pause"' in answer.text
        assert "is paused; nothing is sent." in answer.text
    else:
        assert answer.status_code == 303
    browser.send("/triggers/dc_000000x/pause", {"resume": "1"}, htmx=htmx)
    assert watched.updates[-1] == {"active": True}
    watched.refusal = (409, "Tasks did not take the subscription back.")
    refused = browser.send("/triggers/dc_000000x/pause", htmx=True).text
    assert 'aria-checked="true"' in refused  # as it is, not as it was wished
    assert "could not be paused. Tasks did not take the subscription back." in refused
    assert browser.send("/triggers/dc_000002x/pause").status_code == 404


def test_resume_is_delete(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    token = browser.get("/settings").text.split('X-CSRFToken": "')[1].split('"')[0]
    headers = {"HX-Request": "true", "HX-Request-Type": "partial"}
    assert browser.client.delete("/triggers/dc_000001x/pause", headers=headers).status_code == 400
    answer = browser.client.delete("/triggers/dc_000001x/pause", headers=headers | {"X-CSRFToken": token})
    assert answer.status_code == 200
    assert watched.updates == [{"active": True}]


def test_the_page_of_one_trigger_says_at_once_how_it_is(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    assert 'hx-post="/triggers/dc_000000x/pause?whole=1"' in browser.get("/triggers/dc_000000x").text
    paused = browser.send("/triggers/dc_000000x/pause?whole=1", htmx=True).text
    assert 'hx-target="#strip"' in paused and 'hx-target="#banners"' in paused
    assert "<b>Paused.</b>" in paused and "Not while it is off" in paused
    assert 'hx-delete="/triggers/dc_000000x/pause?whole=1"' in paused
    in_list = browser.send("/triggers/dc_000000x/pause", {"resume": "1"}, htmx=True).text
    assert 'hx-target="#state-dc_000000x"' in in_list and "#strip" not in in_list


def test_a_later_version_is_reported_and_taken(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    tower.add(stage.alice.id, name="Runs", newest_version="1.3.0")
    browser = stage.signed_in()
    page = browser.get(PAGE).text
    assert "It runs version 1.2.0. Version 1.3.0 is available." in " ".join(page.split())
    assert f'action="{PAGE}/version"' in page and 'value="1.3.0"' in page and "Update to 1.3.0" in page
    assert "all settings that the new version has stay." in page
    assert "1.3.0 is available" in browser.get(f"{PAGE}/configuration").text
    assert browser.send(f"{PAGE}/version", {"version": "1.3.0"}).status_code == 303
    assert tower.updates == [{"version": "1.3.0"}]
    assert "“Runs” now runs version" in browser.get(PAGE).text
    tower.refusal = (400, "Place is missing.")
    browser.send(f"{PAGE}/version", {"version": "1.3.0"})
    assert "It was not updated. Place is missing." in browser.get(PAGE).text
    assert browser.send("/triggers/dc_nobodys/version", {"version": "1.3.0"}).status_code == 404


def test_one_whose_version_was_removed_waits_to_be_moved(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    why = "It waits, because version 1.2.0 was removed from this service. Change it to version 1.3.0."
    tower.add(stage.alice.id, available=False, waits=why, newest_version="1.3.0")
    page = " ".join(stage.signed_in().get(PAGE).text.split())
    assert f"<b>Its version was removed.</b> {why}" in page and "Update to 1.3.0" in page
    assert "Once it is updated to another version" in page
    assert "Its app was removed." not in page and "Once its app" not in page


def test_one_with_the_newest_says_nothing_of_versions(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    tower.add(stage.alice.id, newest_version=None)
    page = stage.signed_in().get(PAGE).text
    assert "Move to" not in page and "is here, too" not in page


def test_one_whose_app_was_removed_says_so_everywhere(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    tower.add(stage.alice.id, name="Stands", available=False, waits=GONE, app="card_shop")
    browser = stage.signed_in()
    page = browser.get(PAGE).text
    assert f"<b>Its app was removed.</b> {GONE}" in " ".join(page.split())
    assert "Once its app is added again" in page and "Card Shop" in page and "/apps/card_shop" not in page
    assert "/apps/card_shop" not in browser.get(f"{PAGE}/configuration").text
    listed = browser.get("/triggers").text
    assert "Component removed" in listed and GONE in listed and "Card Shop" in listed
    assert "Stands" in browser.get("/triggers?status=no-app").text


def test_one_whose_component_alone_was_removed_says_so_everywhere(stage: Any, tower: Watchtower) -> None:
    install(stage.connect)
    waits = "It waits, because tasks-gone was removed from this service. It continues when that is added back."
    tower.add(stage.alice.id, "tasks-gone", name="Stands", available=False, waits=waits, app="tasks")
    browser = stage.signed_in()
    page = browser.get(PAGE).text
    assert f"<b>Its component was removed.</b> {waits}" in " ".join(page.split())
    assert "Once it is added again" in page
    assert "Its app was removed" not in page + browser.get("/triggers").text
    settings = browser.get(f"{PAGE}/configuration")
    assert settings.status_code == 200
    assert "/triggers/tasks-gone" not in page + settings.text


def test_deleting_says_what_ends_and_survives_a_failing_hook(stage: Any, deployed: Watchtower) -> None:
    deployed.add_delivery(ID, "waiting")
    browser = stage.signed_in()
    page = browser.get(f"{URL}/deletion").text
    for text in (
        "Patchbay stops watching Tasks.", "2 endpoints receive nothing more", "1 pending delivery is cancelled",
        "Its events, deliveries and logs are deleted.",
    ):  # fmt: skip
        assert text in page
    assert "anyway" not in page
    deployed.hook_error = "Tasks did not take the webhook down."
    refused = browser.send(f"{URL}/deletion")
    assert refused.status_code == 422
    assert "It was not deleted. Tasks did not take the webhook down." in refused.text
    assert "Delete anyway" in refused.text
    assert ID in deployed.triggers
    assert browser.send(f"{URL}/deletion", {"anyway": "1"}).headers["Location"] == "/triggers"
    assert ID not in deployed.triggers


def test_what_ends_follows_from_where_its_events_came_from(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    for facts, sentence in (
        ({"instant": True}, "Patchbay stops watching Tasks and unsubscribes there."),
        ({"emitter_type": "timer"}, "Its schedule ends."),
        (
            {"emitter_type": "http", "endpoint_url": "https://x.example.com/h/k"},
            "https://x.example.com/h/k stops answering.",
        ),
        ({"emitter_type": "http", "endpoint_url": None}, "Its address stops answering."),
        ({"emitter_type": "email", "email_address": "k@mail.example.com"}, "Mail to k@mail.example.com is refused."),
        ({"emitter_type": "email", "email_address": None}, "Mail to its address is refused."),
        ({"emitter_type": "source", "instant": False, "app": "absent"}, "Patchbay stops watching the app."),
    ):
        deployed.triggers[ID].update(facts)
        assert sentence in browser.get(f"{URL}/deletion").text
    deployed.endpoints[ID].pop()
    page = browser.get(f"{URL}/deletion").text
    assert "1 endpoint receives nothing more from it." in page
    assert "still wait" not in page


def test_the_page_keeps_advice_for_programs_to_itself(stage: Any, deployed: Watchtower) -> None:
    deployed.hook_error = "Tasks is away. Try again, or delete it with ignore_hook_errors=true."
    refused = stage.signed_in().send(f"{URL}/deletion")
    assert "It was not deleted. Tasks is away." in refused.text
    assert "ignore_hook_errors" not in refused.text
