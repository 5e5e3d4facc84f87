"""Setting an app up: the owner's form, what becomes of it, and how others ask for it."""

import re
from typing import Any

import pytest

from tests.dashboard.build.fake_oauth_apps import Registry
from tests.dashboard.conftest import PASSWORD
from webapp.people import users

GOOD = {"client_id": "1234.5678", "client_secret": "canary-secret"}
SHAPE = {"pattern": "[0-9]+\\.[0-9]+", "advice": "Slack’s client IDs are two numbers with a dot between."}


@pytest.fixture
def slack(stage: Any, registry: Registry) -> Any:
    """The app to set up, with all that its service may tell; GitHub is of its family."""
    app = next(app for app in stage.connect.apps if app["name_slug"] == "slack")
    app["patchbay"]["set_up"] = {
        **app["patchbay"]["set_up"], "provider": "Salesforce", "console": "Your Slack apps", "checkable": True,
        "steps": ["Make an **app**.", "Enter https://connect.example.com/callback as the **Redirect URL**."],
        "id_shape": SHAPE, "id_name": "App ID", "secret_name": "signing secret", "read_on": "2026-11-22",
        "notes": [{"text": "Only <b>https</b>.", "url": "https://docs.slack.dev/"}, {"url": "javascript:x"}],
        "family": [{"name_slug": "github", "name": "GitHub", "ready": False}],
    }  # fmt: skip
    return app


def login(stage: Any, email: str, role: str) -> Any:
    users.create(stage.store, stage.clock, email=email, password=PASSWORD, role=role)
    return stage.signed_in(email)


def test_an_owner_gets_the_steps_and_the_form(stage: Any, slack: Any) -> None:
    browser = stage.signed_in()
    for address in ("/apps/slack", "/apps/slack/setup"):
        page = browser.get(address).text
        assert "<p>Make an <b>app</b>.</p>" in page and "Enter this address as the <b>Redirect URL</b>." in page
        assert page.count("<code>https://connect.example.com/callback</code>") == 1
        assert "Paste what Salesforce gives you" in page and "Open Your Slack apps" in page
        assert re.search(r'for="f-client_id">\s*App ID\s*</label>', page) and "Signing secret" in page
        assert "We ask Salesforce whether it knows this client." in page
        assert "Only &lt;b&gt;https&lt;/b&gt;." in page and "javascript:" not in page
        assert re.search(r'name="apps"\s+value="github" checked', page)
        assert "2026-11-22" in page and "Save without a check" not in page


def test_a_saved_client_makes_the_app_ready_at_once(stage: Any, slack: Any, registry: Registry) -> None:
    member, browser = login(stage, "marc@example.com", "member"), stage.signed_in()
    assert "Needs setup" in member.get("/apps/slack").text
    member.send("/apps/slack/setup-requests")
    answer = browser.send("/apps/slack/setup", {**GOOD, "client_id": " 1234.5678 ", "apps": "github"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/apps/slack")
    first, second = registry.clients.values()
    assert (first["client_id"], registry.secrets) == ("1234.5678", {first["id"]: "canary-secret"})
    assert (second["name_slug"], second["client_id"]) == ("github", "1234.5678")
    page = browser.get("/apps/slack").text
    assert "Slack is set up. It knows this client." in page
    assert 'action="/apps/slack/connect"' in member.get("/apps/slack").text
    assert "canary" not in page
    slack["patchbay"]["ready"] = False  # its client is gone again, and nobody has asked since
    assert "person asked" not in browser.get("/apps/slack").text


def test_a_client_that_could_not_be_checked_is_kept_and_said_so(stage: Any, slack: Any, registry: Registry) -> None:
    registry.verdict = {"verdict": "unchecked", "sentence": "The client could not be checked."}
    browser = stage.signed_in()
    assert browser.send("/apps/slack/setup", GOOD).status_code == 303
    page = browser.get("/apps/slack").text
    assert re.search(r'class="warn">.*?Slack is set up. The client could not be checked.', page)
    assert len(registry.clients) == 1, "GitHub was not ticked"


@pytest.mark.parametrize("status", [400, 403, 502])
def test_a_client_stands_though_another_app_did_not_get_it(
    stage: Any, slack: Any, registry: Registry, status: int
) -> None:
    registry.share_refusal = status
    browser = stage.signed_in()
    assert "Needs setup" in browser.get("/apps/slack").text
    answer = browser.send("/apps/slack/setup", {**GOOD, "apps": "github"})
    assert (answer.status_code, len(registry.clients)) == (303, 1)
    page = browser.get("/apps/slack").text
    assert "Slack is set up." in page and "Not all of the other apps got this client." in page
    assert "Needs setup" not in page


@pytest.mark.parametrize(
    ("entered", "says"),
    [
        ({"client_id": "1234"}, SHAPE["advice"]),
        ({"client_id": ""}, "Paste the client ID."),
        ({"client_secret": " "}, "Paste the client secret."),
        ({"client_id": "9.9"}, "It does not know this client."),
    ],
)
def test_what_cannot_be_right_is_not_kept_and_no_secret_comes_back(
    stage: Any, slack: Any, registry: Registry, entered: dict[str, str], says: str
) -> None:
    registry.unknown = {"9.9"}
    answer = stage.signed_in().send("/apps/slack/setup", GOOD | entered)
    assert answer.status_code == 422 and says in answer.text
    assert "canary" not in answer.text and registry.clients == {}
    assert 'aria-invalid="true"' in answer.text
    if all((GOOD | entered)[name].strip() for name in GOOD):
        assert "Save without a check" in answer.text and "Paste the secret again" in answer.text


def test_an_owner_may_know_better_than_the_check(stage: Any, slack: Any, registry: Registry) -> None:
    registry.unknown = {"odd"}
    answer = stage.signed_in().send("/apps/slack/setup", {**GOOD, "client_id": "odd", "anyway": "1"})
    assert answer.status_code == 303 and len(registry.clients) == 1


def test_what_the_service_refuses_is_said(stage: Any, slack: Any, registry: Registry) -> None:
    browser = stage.signed_in()
    for code, says in ((400, "The app is gone."), (403, "does not let this dashboard add OAuth clients")):
        registry.refusal = (code, "The app is gone.")
        answer = browser.send("/apps/slack/setup", GOOD)
        assert answer.status_code == 422 and says in answer.text


def test_who_may_not_meets_nothing(stage: Any, slack: Any, registry: Registry) -> None:
    absent = stage.signed_in().get("/apps/nothing/setup")
    for browser in (login(stage, "marc@example.com", "member"), login(stage, "dev@example.com", "developer")):
        assert "callback" not in browser.get("/apps/slack").text
        assert browser.get("/apps/slack/setup").status_code == absent.status_code == 404
        assert browser.send("/apps/slack/setup", GOOD).status_code == 404
    owner = stage.signed_in()
    for slug in ("stripe", "schedule", "nothing"):
        assert owner.get(f"/apps/{slug}/setup").status_code == 404
        assert owner.send(f"/apps/{slug}/setup", GOOD).status_code == 404
    assert owner.send("/apps/slack/setup-requests").status_code == 404
    assert registry.clients == {}


def test_others_ask_once_and_owners_see_who(stage: Any, slack: Any) -> None:
    marc, priya = login(stage, "marc@example.com", "member"), login(stage, "priya@example.com", "developer")
    for browser in (marc, marc, priya):
        assert browser.send("/apps/slack/setup-requests").headers["Location"] == "/apps/slack"
    page = marc.get("/apps/slack").text
    assert "alice@example.com will see that you asked for Slack." in page
    assert "You asked for it." in page and "Ask them" not in page
    assert "2 people asked: marc@example.com, priya@example.com" in stage.signed_in().get("/apps/slack").text
    assert "people asked" not in priya.get("/apps/slack").text
    assert marc.send("/apps/github/setup-requests").status_code == 303, "it is ready: nothing to ask for"
    assert "people asked" not in stage.signed_in().get("/apps/github").text
    assert marc.send("/apps/nothing/setup-requests").status_code == 404


def test_an_app_that_is_ready_takes_a_client_of_ones_own(stage: Any, slack: Any) -> None:
    slack["patchbay"]["ready"] = True
    browser = stage.signed_in()
    assert 'href="/apps/slack/setup"' in browser.get("/apps/slack").text
    assert "Add a client of your own for Slack" in browser.get("/apps/slack/setup").text
    member = login(stage, "marc@example.com", "member")
    assert "/apps/slack/setup" not in member.get("/apps/slack").text


def test_a_service_that_tells_nothing_has_no_form(stage: Any, slack: Any) -> None:
    del slack["patchbay"]["set_up"]
    browser = stage.signed_in()
    assert "The operator of this service can set it up." in browser.get("/apps/slack").text
    assert browser.get("/apps/slack/setup").status_code == 404
