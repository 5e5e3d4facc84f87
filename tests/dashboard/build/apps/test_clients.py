"""A project's own OAuth clients: changed, checked and deleted, with what stops.

The secret that a provider sent for its events: shown once, to whoever takes it.
"""

import re
from typing import Any

import pytest

from tests.dashboard.build.fake_oauth_apps import Registry

EVENTS = {
    "uri": "https://connect.example.com/h/app/notion/oa_1", "address_name": "Webhook URL",
    "secret_name": "verification token", "has_secret": False, "brings_secret": True, "secret_sent_at": None,
}  # fmt: skip


@pytest.fixture
def github(registry: Registry) -> Any:
    return registry.add("github", "gh-id")


def test_a_client_is_changed_and_its_secret_goes_in_only(stage: Any, registry: Registry, github: Any) -> None:
    browser, one = stage.signed_in(), f"/build/apps/{github['id']}"
    page = browser.get(one).text
    assert 'value="gh-id"' in page and "https://connect.example.com/callback" in page
    form = {"name": "Ours", "client_id": "gh-id", "client_secret": " canary-new ", "scopes": "repo\ngist"}
    assert browser.send(one, form).headers["Location"] == "/build/apps#clients"
    assert registry.secrets[github["id"]] == "canary-new"
    assert (github["name"], github["scopes"]) == ("Ours", ["repo", "gist"])
    pages = browser.get("/build/apps").text + browser.get(one).text
    assert "The client for GitHub is changed. It knows this client." in pages and "canary" not in pages
    browser.send(one, {**form, "client_secret": ""})
    assert registry.secrets[github["id"]] == "canary-new"
    assert "is changed." in browser.get("/build/apps").text


def test_a_client_whose_provider_tells_events_shows_where_and_takes_their_secret(
    stage: Any, registry: Registry, github: Any
) -> None:
    uri = "https://connect.example.com/h/app/slack/oa_1"
    events = {"uri": uri, "address_name": "Request URL", "secret_name": "Signing Secret", "has_secret": False}
    slack = registry.add("slack", "sl-id", events=events)
    browser, one = stage.signed_in(), f"/build/apps/{slack['id']}"
    page = browser.get(one).text
    assert uri in page and "Signing Secret" in page and "Request URL" in page
    browser.send(one, {"name": "Ours", "client_id": "sl-id", "events_secret": " canary-events "})
    assert registry.events_secrets[slack["id"]] == "canary-events"
    events["has_secret"] = True
    page = browser.get(one).text
    assert "New Signing Secret" in page and "canary" not in page
    assert "Events for triggers" not in browser.get(f"/build/apps/{github['id']}").text


def test_a_client_that_takes_a_topic_asks_for_its_name(stage: Any, registry: Registry) -> None:
    events = {
        "uri": "https://connect.example.com/h/app/gmail/oa_1",
        "address_name": "Endpoint URL",
        "takes_topic": True,
    }
    gmail = registry.add("slack", "sl-id", events=events | {"secret_name": "Topic", "has_secret": False})
    page = stage.signed_in().get(f"/build/apps/{gmail['id']}").text
    assert "through a topic of Google Cloud" in page and "Endpoint URL" in page
    assert (
        'placeholder="projects/acme-mail/topics/gmail"' in page and 'type="password" name="events_secret"' not in page
    )


def test_a_secret_that_could_not_be_checked_is_a_warning(stage: Any, registry: Registry, github: Any) -> None:
    registry.verdict = {"verdict": "unchecked", "sentence": "The client could not be checked."}
    browser, form = stage.signed_in(), {"name": "Ours", "client_id": "gh-id", "client_secret": "canary-new"}
    browser.send(f"/build/apps/{github['id']}", form)
    assert re.search(r'class="warn">.*?The client could not be checked.', browser.get("/build/apps").text)


def test_a_secret_that_the_provider_does_not_know_is_not_kept(stage: Any, registry: Registry, github: Any) -> None:
    registry.unknown = {"gh-id"}
    browser, one = stage.signed_in(), f"/build/apps/{github['id']}"
    form = {"name": "Ours", "client_id": "gh-id", "client_secret": "canary-wrong"}
    answer = browser.send(one, form)
    assert answer.status_code == 422 and "It does not know this client." in answer.text
    assert "canary" not in answer.text and registry.secrets == {}
    assert browser.send(one, {**form, "anyway": "1"}).status_code == 303
    registry.refusal = (409, "One account was connected with this client id.")
    answer = browser.send(one, {**form, "client_id": "other"})
    assert answer.status_code == 422 and "One account was connected" in answer.text


@pytest.mark.parametrize(
    ("refused", "place"), [("scopes.1", "f-scopes-err"), ("name", "f-name-err"), ("redirect_uri", 'role="alert"')]
)
def test_what_is_wrong_stands_beside_its_field(
    stage: Any, registry: Registry, github: Any, refused: str, place: str
) -> None:
    registry.refusal, registry.refused_field = (400, "Not this one."), refused
    form = {"name": "Ours", "client_id": "gh-id", "scopes": "repo\nodd"}
    answer = stage.signed_in().send(f"/build/apps/{github['id']}", form)
    assert answer.status_code == 422 and re.search(rf"{place}.*?Not this one\.", answer.text, re.DOTALL)


@pytest.mark.parametrize(
    ("verdict", "tone"), [("known", "ok"), ("unchecked", "warn"), ("unknown", "bad"), ("redirect_uri", "bad")]
)
def test_a_check_says_what_the_provider_says(
    stage: Any, registry: Registry, github: Any, verdict: str, tone: str
) -> None:
    registry.verdict = {"verdict": verdict, "sentence": "This is what it says."}
    browser, one = stage.signed_in(), f"/build/apps/{github['id']}"
    assert browser.send(f"{one}/check").headers["Location"] == one
    assert re.search(rf'class="{tone}">.*?This is what it says.', browser.get(one).text)


def test_a_client_is_deleted_after_saying_what_stops(stage: Any, registry: Registry, github: Any) -> None:
    browser, removal = stage.signed_in(), f"/build/apps/{github['id']}/removal"
    assert "Nobody can connect GitHub until another client" in browser.get(removal).text
    github["patchbay"]["installation_has_one"] = True
    assert "with the client of this installation instead" in browser.get(removal).text
    github["patchbay"]["used_for_new"] = False
    assert "What will stop" not in browser.get(removal).text
    github["patchbay"]["accounts"] = 2
    page = browser.get(removal).text
    assert "2 accounts were connected with it." in page and f'action="{removal}"' not in page
    browser.send(removal)
    assert "One account was connected with this OAuth client." in browser.get("/build/apps").text
    github["patchbay"]["accounts"] = 0
    assert browser.send(removal).headers["Location"] == "/build/apps#clients"
    assert registry.clients == {}
    assert browser.get(removal).status_code == 404


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
    assert "If Slack refuses it, it came from somebody else:" in shown
    assert browser.send(f"{page}/events-secret/kept").headers["Location"] == f"{page}#events"
    after = browser.get(page).text
    assert "It is set." in after and "canary" not in after


def test_one_that_is_to_take_the_place_of_another_says_so(stage: Any, notion: Any) -> None:
    browser, page = stage.signed_in(), f"/build/apps/{notion['id']}"
    notion["patchbay"]["events"] |= {"has_secret": True, "secret_sent_at": "2026-11-22T10:00:00.000Z"}
    assert "Use it only if you have just entered the URL again." in browser.get(page).text
    notion["patchbay"]["events"]["secret_sent_at"] = None
    browser.send(f"{page}/events-secret")
    assert "The provider has sent nothing yet." in browser.get(page).text
