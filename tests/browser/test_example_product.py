"""The example of a product on another origin, in Chromium: it connects an account in each way, and lists it."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.test_link import allow
from webapp.service.domain.accounts import account_state

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]
SHOWN = os.environ.get("PATCHBAY_TEST_SCREENSHOTS")
USER, GO = "acme-desk-ada", "Continue to Sandbox Tasks"


def opened(page: Any, product: Any) -> Any:
    """Acme Desk's settings, where nothing is connected yet."""
    with product.service.store.write() as tx:
        account_state.remove(tx, product.accounts(USER), product.service.clock())
    page.goto(f"{product.sandbox_url}/product")
    page.get_by_text("None yet").wait_for()
    return page


def is_listed(page: Any, product: Any) -> None:
    """The account that was just connected stands on the page, under the id that the page was told."""
    page.locator("#says", has_text="The account is connected").wait_for()
    page.locator(".connections .tag", has_text="Working").wait_for()
    assert len(product.accounts(USER)) == page.locator(".connections li").count() == 1


def test_in_the_page(product: Any, contexts: Callable[..., Any], axe: Any) -> None:
    page = opened(contexts(viewport={"width": 1280, "height": 900}).new_page(), product)
    page.get_by_role("button", name="Connect in this page").click()
    go = page.frame_locator("dialog iframe").get_by_role("link", name=GO).first
    go.wait_for()
    page.frame_locator("dialog iframe").locator("html.ready").wait_for(state="attached")
    if SHOWN:
        page.screenshot(path=f"{SHOWN}/product-frame.png")
    with page.expect_popup() as window:
        go.click()
    allow(window.value)
    is_listed(page, product)
    page.get_by_text(product.accounts(USER)[0].id).wait_for()
    assert page.context.problems == []
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if SHOWN:
                page.screenshot(path=f"{SHOWN}/product-{width}-{scheme}.png", full_page=True)
            assert axe(page, colours=scheme == "dark") == [], scheme
            page.context.problems.clear()  # styles of axe itself, which the page refuses
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_in_a_window(product: Any, page: Any) -> None:
    opened(page, product)
    with page.expect_popup() as window:
        page.get_by_role("button", name="In a window").click()
    window.value.get_by_role("link", name=GO).first.click()
    allow(window.value)
    is_listed(page, product)


@pytest.mark.parametrize("script", [True, False])
def test_in_the_same_tab(product: Any, contexts: Callable[..., Any], script: bool) -> None:
    page = opened(contexts(java_script_enabled=script).new_page(), product)
    page.get_by_role("button", name="In this tab").click()
    page.get_by_role("link", name=GO).locator("visible=true").first.click()
    allow(page)
    page.wait_for_url(f"{product.sandbox_url}/product**")
    is_listed(page, product)


def test_leaving_is_said(product: Any, page: Any) -> None:
    opened(page, product)
    page.get_by_role("button", name="Connect in this page").click()
    page.frame_locator("dialog iframe").get_by_role("button", name="Close").click()
    page.get_by_text("The person left without connecting an account.").wait_for()


def test_the_portal_is_a_part_of_the_page(product: Any, page: Any) -> None:
    opened(page, product)
    page.get_by_role("button", name="Manage them here").click()
    portal = page.frame_locator("#portal iframe")
    portal.get_by_role("heading", name="Accounts", exact=True).wait_for()
    if SHOWN:
        page.wait_for_timeout(300)
        page.screenshot(path=f"{SHOWN}/product-portal.png", full_page=True)
