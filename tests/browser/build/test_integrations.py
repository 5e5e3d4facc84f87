"""Build: Integrations in a real browser: one is found, looked at, added, connected, run and removed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import need
from tests.browser.person import Person
from tests.fakes.npm_registry import package, registry
from tests.fakes.served import Served, served
from webapp.service.components.pieces import node

pytestmark = pytest.mark.browser
KIOSK = """
const props = { what: { type: "SHORT_TEXT", displayName: "What", required: true } };
const validate = async ({ auth }) =>
  (auth.secret_text ?? auth).startsWith("k-") ? { valid: true } : { valid: false, error: "Keys begin with k-." };
const auth = { type: "SECRET_TEXT", displayName: "API key", required: true, description: "", validate };
const run = async ({ propsValue, auth }) => ({ sold: propsValue.what, key: auth.secret_text.length });
const sell = { name: "sell", displayName: "Sell", description: "Sells one thing.", requireAuth: true, props, run };
const address = "https://api.kiosk.example-shop.io/v1";
exports.kiosk = {
  displayName: "Kiosk", description: "Sells things.", logoUrl: "", authors: [], categories: [], auth, address,
  getContextInfo: () => ({ version: 2 }), actions: () => ({ sell }), triggers: () => ({}),
};
"""


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    need(node.find() is not None, "Node is missing")
    with registry() as npm, served(tmp_path / "data", PATCHBAY_PIECE_REGISTRY=npm.url) as product:
        npm.publish(package("@activepieces/piece-kiosk", files={"index.js": KIOSK}))
        yield product


def fits(page: Any, axe: Any) -> None:
    """Nothing is wrong with the page, in either theme and on a phone."""
    assert axe(page) == []
    page.emulate_media(color_scheme="dark")
    assert axe(page, colours=True) == []
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


def test_one_is_added_connected_run_and_removed(contexts: Any, fresh: Served, axe: Any) -> None:
    page = contexts().new_page()
    owner = Person(page, fresh)
    owner.sign_up(fresh.start_url)
    page.get_by_role("navigation", name="Build").get_by_role("link", name="Integrations").click()
    page.get_by_text("Nothing added yet").wait_for()
    page.get_by_role("searchbox").fill("kiosk")
    page.get_by_role("searchbox").press("Enter")
    page.get_by_text("@activepieces/piece-kiosk").wait_for()
    fits(page, axe)
    page.get_by_role("button", name="Look at Kiosk").click()
    page.get_by_role("button", name="Add Kiosk").wait_for(timeout=60_000)  # the open page hears of it
    assert page.get_by_label("Hosts, one on each line").input_value() == "api.kiosk.example-shop.io"
    fits(page, axe)
    page.get_by_role("button", name="Add Kiosk").click()
    row = page.get_by_role("row", name=re.compile("Kiosk"))
    row.get_by_text("Working").wait_for(timeout=60_000)
    fits(page, axe)

    found = page.get_by_text("Added from npm: @activepieces/piece-kiosk, 1.0.0, MIT")
    for _ in range(20):  # each process takes it in by itself
        page.goto(f"{fresh.url}/apps/kiosk")
        if found.count():
            break
        page.wait_for_timeout(250)
    found.wait_for()
    page.get_by_role("button", name=re.compile("^Connect")).click()
    page.get_by_role("textbox", name="API key").fill("12345")
    owner.button("Connect").first.click()
    page.get_by_text("Keys begin with k-.").wait_for()
    page.get_by_role("textbox", name="API key").fill("k-12345")
    owner.button("Connect").first.click()
    page.goto(f"{fresh.url}/apps/kiosk/actions/kiosk-sell")
    page.get_by_label("What").fill("a newspaper")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Run action").click()
    page.locator("#result").get_by_text("a newspaper").first.wait_for()

    page.goto(f"{fresh.url}/apps?q=kiosk")
    page.get_by_role("listitem").filter(has_text="Sells things.").get_by_text("With a key · Added here").wait_for()
    page.goto(f"{fresh.url}/build/integrations")
    row.get_by_text("1 account").wait_for()
    row.get_by_role("link", name="Kiosk", exact=True).click()
    owner.heading("Kiosk")
    fits(page, axe)
    page.locator("summary[aria-label='More for Kiosk']").click()
    page.get_by_role("link", name="Remove…").click()
    question = page.get_by_role("dialog", name="Remove Kiosk?")
    question.get_by_text("1 connected account").wait_for()
    assert axe(page) == []
    question.get_by_role("button", name="Remove").click()
    page.get_by_text("Nothing added yet").wait_for()
