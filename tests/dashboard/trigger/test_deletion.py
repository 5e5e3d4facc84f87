"""Deleting a trigger: what ends with it is said first, and a failing app does not keep it."""

from typing import Any

from tests.dashboard.fake_triggers import Watchtower
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
