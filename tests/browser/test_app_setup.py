"""Setting an app up in a real browser: a member asks, an owner adds the client, which the provider is asked about."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.browser.person import PASSWORD, Person
from tests.fakes.provider import APP_TOML, FakeProvider, serving
from tests.fakes.served import Served, served

pytestmark = pytest.mark.browser
STEPS = 'steps = ["Make a client.", "Enter {redirect_uri} as the **Redirect URI**."]'


@pytest.fixture
def acme() -> Iterator[FakeProvider]:
    """A provider that looks at the client first, then at the code."""
    with serving() as provider:
        provider.clients, provider.refused_code = {"acme-id": "acme-secret"}, (400, "invalid_grant")
        yield provider


@pytest.fixture
def fresh(tmp_path: Path, acme: FakeProvider) -> Iterator[Served]:
    folder = tmp_path / "data" / "apps" / "acme"
    folder.mkdir(parents=True)
    toml = APP_TOML.replace('steps = ["Make a client."]', STEPS).replace("{origin}", acme.origin)
    (folder / "app.toml").write_text(toml)
    with served(tmp_path / "data", PATCHBAY_ALLOW_HOSTS=f"127.0.0.1:{acme.port}") as product:
        yield product


def test_a_member_asks_and_an_owner_sets_the_app_up(contexts: Any, fresh: Served, axe: Any) -> None:
    page, theirs = contexts().new_page(), contexts().new_page()
    Person(page, fresh).sign_up(fresh.start_url)
    page.goto(f"{fresh.url}/build/people")
    page.get_by_label("E-mail addresses").fill("marc@example.com")
    page.get_by_role("button", name="Create invitation links").click()
    theirs.goto(page.locator(".whole code").first.inner_text())
    theirs.get_by_label("Password", exact=True).fill(PASSWORD)
    theirs.get_by_role("button", name="Accept and sign in").click()
    Person(theirs, fresh).heading("Apps")

    theirs.goto(f"{fresh.url}/apps/acme")
    theirs.get_by_text("ada@example.com can set it up").wait_for()
    theirs.get_by_role("button", name="Ask them").click()
    theirs.get_by_text("You asked for it.").wait_for()
    assert axe(theirs) == []

    page.goto(f"{fresh.url}/apps/acme")
    page.get_by_text("1 person asked: marc@example.com").wait_for()
    assert axe(page) == []
    page.get_by_label("Client ID").fill("wrong-id")
    page.get_by_label("Client secret", exact=True).fill("canary-secret")
    page.get_by_role("button", name="Save and check").click()
    page.get_by_text("Acme does not know this client.").wait_for()
    assert "canary" not in page.content()
    assert axe(page) == []
    page.get_by_label("Client ID").fill("acme-id")
    page.get_by_label("Client secret", exact=True).fill("acme-secret")
    page.get_by_role("button", name="Save and check").click()
    page.get_by_text("Acme is set up. Acme knows this client.").wait_for()
    theirs.reload()
    theirs.get_by_role("button", name="Connect").wait_for()

    page.get_by_role("navigation", name="Build").get_by_role("link", name="App setup").click()
    page.get_by_role("heading", name="App setup").wait_for()
    assert axe(page) == []
    page.get_by_role("link", name="Change the client for Acme").click()
    page.get_by_role("button", name="Check it now").click()
    page.get_by_text("Acme knows this client.").wait_for()
    assert axe(page) == []
    page.locator("[name=client_secret]").fill("canary-wrong")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Acme does not know this client.").wait_for()
    assert "canary" not in page.content()

    page.goto(f"{fresh.url}/build/apps/overrides/new?q=zendesk")
    page.get_by_label("App", exact=True).select_option("zendesk")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Name").fill("Our Zendesk")
    page.get_by_label("Subdomain").fill("acme")
    assert axe(page) == []
    page.get_by_role("button", name="Save").click()
    page.get_by_text("subdomain = acme").wait_for()

    page.get_by_role("link", name="Delete the client for Acme").click()
    question = page.get_by_role("dialog", name="Delete the client for Acme?")
    question.get_by_text("Nobody can connect Acme until another client is added.").wait_for()
    assert axe(page) == []
    question.get_by_role("button", name="Delete").click()
    page.get_by_text("With your own OAuth client").wait_for()


def test_the_token_that_notion_sends_is_shown_once(contexts: Any, fresh: Served, axe: Any) -> None:
    page = contexts().new_page()
    Person(page, fresh).sign_up(fresh.start_url)
    page.goto(f"{fresh.url}/apps/notion")
    page.get_by_label("Client ID").fill("n")
    page.get_by_label("Client secret", exact=True).fill("s")
    page.get_by_role("button", name="Save and check").click()
    page.get_by_text("Notion is set up.").wait_for()
    page.goto(f"{fresh.url}/build/apps")
    page.get_by_role("link", name="Change the client for Notion").click()
    page.get_by_text("Notion has sent none yet.").wait_for()
    assert axe(page) == []
    address = page.get_by_role("group", name="Events for triggers").locator("code").inner_text()
    assert requests.post(address, json={"verification_token": "canary-sent"}, timeout=20).status_code == 200
    page.reload()
    assert axe(page) == [] and "canary" not in page.content()
    page.get_by_role("button", name="Show it and use it").click()
    page.get_by_text("Paste this at Notion now").wait_for()
    assert axe(page) == [] and "canary-sent" in page.content()
    page.get_by_role("button", name="I’ve pasted it").click()
    page.get_by_text("It is set. Notion signs what it sends.").wait_for()
    assert "canary" not in page.content()
