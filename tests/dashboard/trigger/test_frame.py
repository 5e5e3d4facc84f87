"""What stands around every tab of a trigger: its state, what is wrong, and where it delivers."""

from dataclasses import replace
from typing import Any

import pytest

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL
from webapp.dashboard.client.models.deliveries import Day, Endpoint, Workflow
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.transport import ServiceDown
from webapp.dashboard.client.triggers import TriggerClient
from webapp.dashboard.trigger import frame as frames
from webapp.dashboard.trigger.frame import Frame
from webapp.errors import NotFound


def test_page_says_how_it_is(stage: Any, deployed: Watchtower) -> None:
    page = stage.signed_in().get(URL).text
    for text in (
        "<h1>New task</h1>", "polling", "Ada&#39;s tasks", "Every 15 minutes", "hooks.example.com/in",
        "Working", "Deliveries to old.example.com have stopped.", "It answered 410 Gone.", "Resume deliveries",
        "New task: Sail", "2 endpoints", "Nothing was delivered", "Needs you", "1 of 2 addresses fails",
        'data-copy="https://hooks.example.com/in"', "165\xa0ms", "None pending", "data-countdown",
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
def test_what_stands_in_the_way_is_said(stage: Any, deployed: Watchtower, more: dict[str, Any], said: str) -> None:
    deployed.triggers[ID].update(more)
    assert said in stage.signed_in().get(URL).text


def test_an_address_that_failed_once_is_told_of(stage: Any, deployed: Watchtower) -> None:
    state = {"consecutive_failures": 1, "last_error": "It answered 500."}
    deployed.endpoints[ID][0]["delivery_state"].update(state)
    page = stage.signed_in().get(URL).text
    assert "It answered 500." in page
    assert "Retrying" in page
    assert page.count("It answered 500.") == 1


def test_workflows_are_called_by_their_names(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    deployed.workflows[ID] = ["p_orders"]
    page = browser.get(URL).text
    assert "Workflow <b" in page and ">Flow p_orders</b>" in page and '<code class="dim">p_orders</code>' in page
    assert "3 endpoints" in page and "does not accept events" not in page
    deployed.flow_state = "penalty"
    assert "<b>Workflow Flow p_orders</b> does not accept events." in browser.get(URL).text
    stage.connect.extensions = False
    assert '<code class="dim">p_orders</code>' in browser.get(URL).text


def test_addresses_to_copy(stage: Any, deployed: Watchtower) -> None:
    native = {"schedule": None, "app": "http", "emitter_type": "http", "endpoint_url": "https://x.example.com/h/k"}
    deployed.triggers[ID].update(native)
    assert "<code>https://x.example.com/h/k</code>" in stage.signed_in().get(URL).text


def frame(**facts: Any) -> Frame:
    trigger = Trigger.model_validate({"id": ID} | facts)
    happy = Endpoint.model_validate({"id": "wh_1", "url": "https://a.example/"})
    broken = Endpoint.model_validate({"id": "wh_2", "url": "https://b.example/", "active": False})
    return Frame(trigger, None, (), (happy, broken), (Workflow(id="p_1"),), None)


def test_what_is_told_of_destinations() -> None:
    assert [endpoint.id for endpoint in frame().failing] == ["wh_2"]
    assert frame().destinations == 3


def test_the_digest_changes_with_what_the_page_shows_and_with_nothing_else() -> None:
    before = frame().digest()
    assert frame(name="Other", updated_at=5, next_run_at=7).digest() == before
    changed = [
        frame(active=False).digest(),
        frame(waits="Its account needs you.").digest(),
        frame(newest_version="1.3.0").digest(),
        frame(waits="Its other account needs you.").digest(),
        frame(last_error="It answered 500.").digest(),
        replace(frame(), day=Day(delivered=1)).digest(),
        replace(frame(), endpoints=()).digest(),
    ]
    assert len({before, *changed}) == 1 + len(changed)


def test_a_service_without_counts_or_an_unknown_app_leaves_the_frame_standing(
    stage: Any, deployed: Watchtower, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed.triggers[ID]["app"] = "absent"
    stage.connect.extensions = False
    monkeypatch.setattr(TriggerClient, "day", failing)
    with stage.request():
        loaded = frames.load(ID)
    assert (loaded.app, loaded.day, len(loaded.endpoints)) == (None, None, 2)
    with stage.request(), pytest.raises(NotFound, match=r"^There is no such trigger\.$"):
        frames.load("dc_000001x")


@pytest.mark.embedded  # elsewhere, other processes count what changed
def test_one_call_tells_a_list_and_all_around_it_and_two_a_filtered_one(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    browser.get(URL)
    before = len(stage.connect.seen)
    for path in ("", "/deliveries", "/logs", "/configuration", "?status=failed", "?after=MjU="):
        assert browser.get(f"{URL}{path}").status_code == 200
    assert len(stage.connect.seen) - before == 1 + 1 + 1 + 1 + 2 + 2


def test_an_address_that_nothing_was_sent_to_is_neither_good_nor_bad(stage: Any, deployed: Watchtower) -> None:
    deployed.statistics = {"last_success_at": None, "median_ms": None}
    page = stage.signed_in().get(URL).text
    assert '<span class="badge ">Nothing sent yet</span>' in page
    deployed.endpoints[ID][0]["delivery_state"]["last_error"] = "There is no server named hooks.example.com."
    page = stage.signed_in().get(URL).text
    assert '<span class="badge warn">Not found yet</span>' in page
    assert "There is no server named hooks.example.com." in page
    assert "does not accept events" not in page


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"emitter_type": "timer"}, ("Runs", "Every 15 minutes", "in 3 minutes")),
        ({"emitter_type": "http", "schedule": None, "next_run_at": None}, ("Notified by", "Requests to its address")),
        ({"emitter_type": "email", "schedule": None, "next_run_at": None}, ("Notified by", "Mail to its address")),
        (
            {"instant": True, "schedule": None, "next_run_at": None},
            ("Tasks notifies it at once", "As soon as something"),
        ),
        ({"notified": True}, ("Notified by", "Tasks notifies it at once", "in 3 minutes")),
        ({"notification_error": "No."}, ("Every 15 minutes", '/logs">Why Tasks does not notify it at once')),
        ({"active": False}, ("Checks", "Not while it is off")),
        ({"waits": "Its account needs you."}, ("Checks", "Once its account works")),
    ],
)
def test_the_strip_says_how_it_learns_of_news_and_when(
    stage: Any, deployed: Watchtower, more: dict[str, Any], words: tuple[str, ...]
) -> None:
    deployed.triggers[ID].update(more)
    page = stage.signed_in().get(URL).text
    strip = page[page.index('id="strip"') : page.index("trigger-tabs")]
    assert [word for word in words if word not in strip] == []


def failing(*_: object) -> None:
    raise ServiceDown
