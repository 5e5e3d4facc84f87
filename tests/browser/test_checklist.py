"""The checklist in a browser: done by what happens, hidden and shown again, in both themes and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from webapp.people import users

pytestmark = pytest.mark.browser


def test_it_keeps_its_progress_and_is_hidden_and_shown(contexts: Callable[..., Any], product: Any, axe: Any) -> None:
    service, email = product.service, "olga@example.com"
    users.create(service.store, service.clock, email=email, password=PASSWORD, role="owner")
    page = contexts(reduced_motion="reduce").new_page()
    Person(page, product).sign_in(email)
    page.wait_for_url("**/apps*")

    def check(name: str) -> None:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert axe(page, colours=True) == [], (name, width, scheme)

    panel = page.get_by_role("region", name="Get started")
    panel.get_by_text("0 of 8 done").wait_for()
    check("apps")
    page.get_by_role("searchbox").fill("http")
    page.wait_for_url("**q=http*")
    panel.wait_for(state="hidden")  # it does not stand above what was searched for
    page.goto(f"{product.url}/apps")
    panel.get_by_role("link", name="Get started").click()
    page.get_by_role("heading", name="Get started", level=1).wait_for()
    check("checklist")
    page.get_by_role("button", name="Mark as done: Back up the instance key").click()
    page.get_by_text("1 of 8 steps are done").wait_for()
    page.get_by_role("link", name="Create an OAuth client").click()
    page.wait_for_url("**/build/keys/clients")
    page.get_by_role("link", name="Create an OAuth client").click()
    page.get_by_label("Name").fill("Web app")
    page.get_by_role("button", name="Create client").click()
    page.locator("#secret code").wait_for()
    page.goto(f"{product.url}/apps")
    panel.get_by_text("2 of 8 done").wait_for()
    panel.get_by_role("button", name="Hide “Get started”").click()
    page.get_by_text("Settings lead to it.").wait_for()
    panel.wait_for(state="hidden")
    page.goto(f"{product.url}/settings")
    page.get_by_role("main").get_by_role("link", name="Get started").click()
    page.get_by_role("button", name="Show on Apps").click()
    page.get_by_role("button", name="Hide from Apps").wait_for()
    page.goto(f"{product.url}/apps")
    panel.get_by_text("2 of 8 done").wait_for()
