"""Build → API & keys in a browser: a client is made, given another secret and deleted."""

import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from webapp.audit import Actor
from webapp.kit.cursors import Window
from webapp.people import users
from webapp.service.domain.access import custom_limits, oauth_clients, refused_calls
from webapp.service.domain.deliveries import endpoint_state, endpoints, signing_keys
from webapp.service.domain.deliveries.endpoints import Endpoint

pytestmark = pytest.mark.browser

URL = "/build/keys"


@pytest.fixture
def olga(contexts: Callable[..., Any], product: Any, request: pytest.FixtureRequest) -> Any:
    """A page on which an owner is signed in."""
    service, email = product.service, f"{request.node.name}@example.com"
    users.create(service.store, service.clock, email=email, password=PASSWORD, role="owner")
    page = contexts(reduced_motion="reduce", viewport={"width": 360, "height": 740}).new_page()
    Person(page, product).sign_in(email)
    page.wait_for_url("**/apps*")
    return page


@pytest.fixture
def webhook(product: Any) -> Endpoint:
    """An address that wants no more."""
    service = product.service
    with service.store.write() as tx:
        endpoint = endpoints.add(tx, service, "general", "https://a.example/in", scene=None)
        endpoint_state.deactivate(tx, endpoint.id, "It wants no more.", service.clock())
    return endpoint


def test_an_address_that_was_given_up_begins_anew(olga: Any, product: Any, webhook: Endpoint, axe: Any) -> None:
    olga.goto(f"{product.url}{URL}/webhooks")
    assert axe(olga, colours=True) == []
    assert olga.evaluate("document.documentElement.scrollWidth") <= 360
    olga.get_by_role("button", name="Try again: https://a.example/in").click()
    olga.get_by_text("pending ones are on their way").wait_for()
    fresh = endpoints.find(product.service.store, webhook.id)
    assert fresh is not None and fresh.active
    olga.get_by_role("link", name="Remove https://a.example/in").click()
    olga.get_by_role("dialog").get_by_role("button", name="Remove").click()
    olga.get_by_text("is removed").wait_for()
    olga.get_by_role("button", name="Signing key", exact=True).click()
    key = olga.locator("#secret code").inner_text()
    assert key == signing_keys.key_of(product.service, product.scene)
    assert axe(olga) == []


def test_a_client_is_made_changed_over_and_deleted(olga: Any, product: Any, axe: Any) -> None:
    def check(name: str) -> None:
        for scheme in ("light", "dark"):
            olga.emulate_media(color_scheme=scheme)
            assert axe(olga, colours=scheme == "dark") == [], (name, scheme)
        assert olga.evaluate("document.documentElement.scrollWidth") <= 360, name

    olga.goto(product.url + URL)
    olga.wait_for_url("**/build/keys/clients")
    check("empty")
    olga.get_by_role("link", name="Create an OAuth client").click()
    check("form")
    olga.get_by_label("Name").fill("Billing worker")
    olga.get_by_label("Only this:").check()
    olga.get_by_label("Run actions").check()
    olga.get_by_role("button", name="Create client").click()
    secret = olga.locator("#secret code").inner_text()
    check("secret")
    olga.get_by_role("button", name="I’ve saved it").click()
    olga.locator("#secret").wait_for(state="detached")
    (client,) = oauth_clients.every(product.service.store)
    assert client.scope == "connect:actions:*" and oauth_clients.authenticate(product.service, client.id, secret)

    olga.get_by_role("link", name="New secret of Billing worker").click()
    olga.get_by_role("dialog").get_by_role("button", name="Create a new secret").click()
    fresh = olga.locator("#secret code").inner_text()
    assert all(oauth_clients.authenticate(product.service, client.id, text) for text in (secret, fresh))
    check("two secrets")
    olga.get_by_role("button", name="Revoke the old one now: Billing worker").click()
    olga.get_by_text("has ended").wait_for()
    assert oauth_clients.authenticate(product.service, client.id, secret) is None

    olga.get_by_role("link", name="Delete Billing worker").click()
    olga.get_by_role("dialog").wait_for()
    check("deletion")
    olga.get_by_role("dialog").get_by_role("button", name="Delete").click()
    olga.get_by_text(re.compile("is deleted")).wait_for()
    assert oauth_clients.every(product.service.store) == []


def test_a_limit_is_made_and_tells_what_it_refused(olga: Any, product: Any, axe: Any) -> None:
    olga.goto(f"{product.url}{URL}/limits")
    olga.get_by_role("link", name="Add a rate limit").click()
    olga.get_by_label("Calls allowed").fill("3")
    olga.get_by_label("In", exact=True).select_option(label="an hour")
    olga.get_by_role("button", name="Add rate limit").click()
    olga.locator("#secret code").get_by_text(custom_limits.PREFIX).wait_for()
    (limit,) = custom_limits.page(product.service.store, Window()).items
    for _ in range(2):
        refused_calls.note(product.service, limit.key, Actor("user", "user-4812"))
    olga.get_by_role("button", name="I’ve saved it").click()
    card = olga.get_by_role("region", name="Custom rate limits")
    card.get_by_text("3 calls in 1 hour").wait_for()
    card.get_by_text("2 refused in the last hour, all from user-4812").wait_for()
    assert axe(olga, colours=True) == []
    assert olga.evaluate("document.documentElement.scrollWidth") <= 360


def test_calls_that_failed_are_opened_as_code(olga: Any, product: Any, axe: Any) -> None:
    olga.goto(f"{product.url}/accounts")
    olga.goto(f"{product.url}/accounts/apn_none")
    olga.goto(f"{product.url}{URL}/calls")
    calls = olga.get_by_role("region", name="Calls", exact=True)
    calls.get_by_role("link", name="Made by these pages").click()
    calls.get_by_text("/accounts?").first.wait_for()
    calls.get_by_label("Status").select_option("failed")
    olga.wait_for_url("**/calls/pages?status=failed")
    row = calls.locator("details.log").filter(has_text="apn_none").first
    row.locator("summary").first.click()
    row.get_by_text("There is no such account.").first.wait_for()
    row.locator("summary", has_text="curl").click()
    assert "$ACCESS_TOKEN" in row.get_by_role("region", name="curl").inner_text()
    row.locator("summary", has_text="Python").click()
    for width in (360, 1280):
        olga.set_viewport_size({"width": width, "height": 740})
        assert olga.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in ("light", "dark"):
            olga.emulate_media(color_scheme=scheme)
            assert axe(olga, colours=True) == [], (width, scheme)
            if folder := os.environ.get("SHOTS"):
                calls.screenshot(path=f"{folder}/calls-{width}-{scheme}.png")


def mask_of(page: Any) -> str:
    """What the bar of tabs fades by; "none" where it has room."""
    tabs = page.get_by_role("navigation", name="API & keys")
    return str(tabs.evaluate("tabs => getComputedStyle(tabs).maskImage"))


def test_sections_by_keyboard_without_scripts_and_in_both_themes(
    contexts: Callable[..., Any], olga: Any, product: Any, axe: Any
) -> None:
    plain = contexts(java_script_enabled=False, storage_state=olga.context.storage_state()).new_page()
    plain.goto(product.url + URL)
    for label in ("User API keys", "Webhooks", "Rate limits", "Usage", "Calls"):
        plain.get_by_role("navigation", name="API & keys").get_by_role("link", name=label).press("Enter")
        plain.wait_for_url(f"{product.url}{URL}/*")
        assert plain.title().startswith(f"{label} · ")
    for section in ("clients", "api-keys", "webhooks", "limits", "usage", "calls"):
        olga.goto(f"{product.url}{URL}/{section}")
        current = olga.get_by_role("navigation", name="API & keys").locator("[aria-current=page]")
        box = current.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360, f"{section}: its tab is out of sight"
        assert "linear-gradient" in mask_of(olga), f"{section}: nothing hints at more tabs"
        for width, height in ((360, 1200), (1280, 1200)):
            olga.set_viewport_size({"width": width, "height": 740})
            if section != "calls":
                assert olga.evaluate("document.documentElement.scrollHeight") <= height, (section, width)
            assert olga.evaluate("document.documentElement.scrollWidth") <= width
            for scheme in ("light", "dark"):
                olga.emulate_media(color_scheme=scheme)
                assert axe(olga, colours=True) == [], (section, width, scheme)
        assert mask_of(olga) == "none", f"{section}: a mask where every tab fits"
        olga.set_viewport_size({"width": 360, "height": 740})
