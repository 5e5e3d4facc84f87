"""The secret that a provider sent for its events: shown once, to whoever takes it."""

from typing import Any

import pytest

from tests.dashboard.build.fake_oauth_apps import Registry

EVENTS = {
    "uri": "https://connect.example.com/h/app/notion/oa_1", "address_name": "Webhook URL",
    "secret_name": "verification token", "has_secret": False, "brings_secret": True, "secret_sent_at": None,
}  # fmt: skip


@pytest.fixture
def notion(registry: Registry) -> Any:
    return registry.add("slack", "sl-id", events=dict(EVENTS))


def test_it_is_shown_until_it_was_pasted(stage: Any, notion: Any) -> None:
    browser, page, events = stage.signed_in(), f"/build/apps/{notion['id']}", notion["patchbay"]["events"]
    before = browser.get(page).text
    assert "Slack has sent none yet." in before and "Webhook URL" in before and 'name="events_secret"' not in before
    events["secret_sent_at"] = "2026-11-22T10:00:00.000Z"
    assert "Show it and use it" in browser.get(page).text and "canary" not in browser.get(page).text
    assert browser.send(f"{page}/events-secret").headers["Location"] == f"{page}#events"
    shown = browser.get(page).text
    assert "canary-sent" in shown and "Paste this at Slack now" in shown
    assert "If Slack refuses it, somebody else sent it:" in shown
    assert browser.send(f"{page}/events-secret/kept").headers["Location"] == f"{page}#events"
    after = browser.get(page).text
    assert "It is set." in after and "canary" not in after


def test_one_that_is_to_take_the_place_of_another_says_so(stage: Any, notion: Any) -> None:
    browser, page = stage.signed_in(), f"/build/apps/{notion['id']}"
    notion["patchbay"]["events"] |= {"has_secret": True, "secret_sent_at": "2026-11-22T10:00:00.000Z"}
    assert "Take it only if you have just entered the address anew." in browser.get(page).text
    notion["patchbay"]["events"]["secret_sent_at"] = None
    browser.send(f"{page}/events-secret")
    assert "The provider has sent nothing yet." in browser.get(page).text
