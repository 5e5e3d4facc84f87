"""Every named ending of a connection, reached from the dashboard: its page has one next step, and the list is right."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from tests.browser.person import PASSWORD, Person
from webapp.people import users

pytestmark = pytest.mark.browser


@pytest.fixture
def ada(contexts: Callable[..., Any], product: Any) -> Person:
    """Somebody signed in, who has no accounts."""
    service = product.service
    email = f"ada-{uuid4().hex}@example.com"
    users.create(service.store, service.clock, email=email, password=PASSWORD, role="member")
    person = Person(contexts().new_page(), product)
    person.sign_in(email)
    person.heading("Apps")
    return person


def ended(person: Person, heading: str, step: str) -> None:
    """The page has ended so; ``step`` is the one way on that it puts first ("" for none), and another leads back."""
    person.heading(heading)
    first = person.page.locator("#outcome .btn.primary").all_inner_texts()
    assert first == ([step] if step else [])
    person.page.get_by_role("link", name=re.compile("^Back to ")).click()
    person.page.get_by_role("alert").wait_for()  # the app's or account's page says it in the dashboard's words


def reconnect(person: Person) -> Any:
    """Reconnect the only account; the provider's page."""
    person.accounts()
    person.page.locator("tbody .row-link").click()
    person.page.locator("summary[aria-label=More]").click()
    person.button("Reconnect").first.click()
    return person.leave()


def test_cancelled_before_leaving(ada: Person) -> None:
    ada.choose("Sandbox Tasks")
    ada.page.get_by_role("link", name="Cancel").click()
    ada.page.get_by_role("alert").get_by_text("Connect again whenever you like.").wait_for()
    assert ada.accounts() == []


def test_cancelled_at_the_provider(ada: Person) -> None:
    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Deny")
    ended(ada, "You cancelled", "Start again")
    assert ada.accounts() == []


def test_window_blocked(ada: Person) -> None:
    ada.page.context.add_init_script("window.open = () => null")
    ada.choose("Sandbox Tasks")
    ada.onward().click()
    ada.page.get_by_text("so the sign-in continues in this tab").wait_for()
    ada.page.wait_for_url(f"{ada.at.sandbox_url}/**")
    ada.decide(ada.page, "Allow")
    ada.connected()
    assert ada.accounts() == ["ada@sandbox.example"]


def test_link_expired(ada: Person, product: Any) -> None:
    ada.choose("Sandbox Tasks (key)")
    with product.service.store.write() as tx:
        tx.run("UPDATE connect_tokens SET expires_at = :past", {"past": product.service.clock() - 1})
    ada.send_key(ada.working_key())
    ended(ada, "This link has expired", "")
    assert ada.accounts() == []


def test_rejected_by_the_provider(ada: Person) -> None:
    ada.choose("Sandbox Tasks")
    window = ada.leave()
    window.wait_for_url("**/oauth/authorize?**")
    asked = parse_qs(urlsplit(window.url).query)
    answer = "error=temporarily_suspended&error_description=Your+workspace+is+suspended."
    url = f"{asked['redirect_uri'][0]}?{answer}&state={asked['state'][0]}&iss={ada.at.sandbox_url}"
    with window.expect_event("close"):
        window.evaluate("url => { setTimeout(() => location.assign(url)) }", url)
    ada.page.get_by_text("“Your workspace is suspended.”").wait_for()
    ended(ada, "Nothing was connected", "Try again")
    assert ada.accounts() == []


def test_wrong_account_on_reconnect(ada: Person) -> None:
    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Allow")
    ada.connected()
    ada.decide(reconnect(ada), "Allow", "Grace Hopper")
    said = ada.page.locator("#outcome p").first
    ada.heading("That was another account")
    assert "Ada Lovelace" in said.inner_text()
    assert "Grace Hopper" in said.inner_text()
    ended(ada, "That was another account", "Try again")
    assert ada.accounts() == ["ada@sandbox.example"]
    assert ada.page.locator("tbody .badge").all_inner_texts() == ["Working"]
    ada.decide(reconnect(ada), "Allow")  # the right one is taken, and stays one account
    ada.connected()
    assert ada.accounts() == ["ada@sandbox.example"]


def test_credentials_refused(ada: Person) -> None:
    ada.choose("Sandbox Tasks (key)")
    ada.send_key("sbx_live_0000000000000000000000000000000000000000")
    alert = ada.page.get_by_role("alert")
    alert.get_by_text("Nothing was connected.").wait_for()
    assert ada.page.get_by_label("API key", exact=True).input_value() == ""
    assert ada.accounts() == []


def test_provider_down_at_the_exchange(ada: Person, product: Any) -> None:
    ada.choose("Sandbox Tasks")
    with product.outage("/oauth/token"):
        ada.decide(ada.leave(), "Allow")
        ended(ada, "Sandbox Tasks does not answer", "Try again")
    assert ada.accounts() == []
    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Allow")
    ada.connected()


def test_provider_down_while_a_key_is_tested(ada: Person, product: Any) -> None:
    key = ada.working_key()
    ada.choose("Sandbox Tasks (key)")
    with product.outage("/api"):
        ada.send_key(key)
        ada.page.get_by_role("alert").get_by_text("Nothing was connected.").wait_for()
    assert ada.accounts() == []
