"""Deleting a trigger: what ends with it is said first, and a failing app does not keep it."""

from typing import Any

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL


def test_deleting_says_what_ends_and_survives_a_failing_hook(stage: Any, deployed: Watchtower) -> None:
    deployed.add_delivery(ID, "waiting")
    browser = stage.signed_in()
    page = browser.get(f"{URL}/deletion").text
    for text in ("Patchbay stops watching Tasks.", "2 places get nothing more", "1 delivery that still waits",
                 "Its events, deliveries and logs are deleted."):  # fmt: skip
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
    assert "1 place gets nothing more from it." in page
    assert "still wait" not in page


def test_the_page_keeps_advice_for_programs_to_itself(stage: Any, deployed: Watchtower) -> None:
    deployed.hook_error = "Tasks is away. Try again, or delete it with ignore_hook_errors=true."
    refused = stage.signed_in().send(f"{URL}/deletion")
    assert "It was not deleted. Tasks is away." in refused.text
    assert "ignore_hook_errors" not in refused.text
