"""Integrations that change, in a real browser: updated, removed while used and added again, and an author's own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import need
from tests.browser.person import Person
from tests.fakes.npm_registry import NpmRegistry, package, registry
from tests.fakes.served import ROOT, Served, served
from tests.once import stores
from webapp.service.components.pieces import node
from webapp.settings import Settings

pytestmark = pytest.mark.browser
NAME = "@activepieces/piece-kiosk"
KIOSK = """
const what = { type: "SHORT_TEXT", displayName: "What", required: true };
const auth = { type: "SECRET_TEXT", displayName: "API key", required: true, description: "" };
const run = async ({ propsValue }) => ({ sold: propsValue.what, by: "VERSION" });
const sell = {
  name: "sell", displayName: "Sell", description: "Sells one thing.", requireAuth: true, props: { what }, run,
};
const sale = {
  name: "sale", displayName: "New sale", description: "Hears of sales.", requireAuth: true, type: "POLLING", props: {},
  sampleData: {}, onEnable: async () => {}, onDisable: async () => {}, test: async () => [],
  run: async () => [{ by: "VERSION" }],
};
const address = "https://api.kiosk.example-shop.io/v1";
exports.kiosk = {
  displayName: "Kiosk", description: "Sells things.", logoUrl: "", authors: [], categories: [], auth, address,
  getContextInfo: () => ({ version: 2 }), actions: () => ({ sell }), triggers: () => ({ sale }),
};
"""


def version(number: str) -> bytes:
    return package(NAME, number, files={"index.js": KIOSK.replace("VERSION", number)})


@dataclass
class Kiosk:
    """The product, the registry that it asks, and its data."""

    product: Served
    npm: NpmRegistry
    data: Path

    @property
    def page_url(self) -> str:
        return f"{self.product.url}/build/integrations"


@pytest.fixture
def kiosk(tmp_path: Path) -> Iterator[Kiosk]:
    need(node.find() is not None, "Node is missing")
    data = tmp_path / "data"
    with registry() as npm, served(data, PATCHBAY_PIECE_REGISTRY=npm.url, PATCHBAY_MIN_POLL_S="1") as product:
        yield Kiosk(product, npm, data)


def fits(page: Any, axe: Any) -> None:
    """Nothing is wrong with the page, in either theme and on a phone."""
    assert axe(page) == []
    page.emulate_media(color_scheme="dark")
    assert axe(page, colours=True) == []
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


def add(page: Any, kiosk: Kiosk) -> None:
    """From the search to the list of what was added."""
    page.goto(f"{kiosk.page_url}?q=kiosk")
    page.get_by_role("button", name="Look at Kiosk").click()
    page.get_by_role("button", name="Add Kiosk").click(timeout=60_000)
    page.get_by_role("row", name=re.compile("Kiosk")).get_by_text("Working").wait_for(timeout=60_000)


def connect_and_watch(page: Any, owner: Person, kiosk: Kiosk) -> tuple[str, str]:
    """Connect an account, and start a trigger with it; the addresses of both pages."""
    page.goto(f"{kiosk.product.url}/apps/kiosk")
    page.get_by_role("button", name=re.compile("^Connect")).click()
    page.get_by_role("textbox", name="API key").fill("k-12345")
    owner.button("Connect").first.click()
    page.wait_for_url("**/accounts/apn_*")
    account = page.url
    page.goto(f"{kiosk.product.url}/apps/kiosk/triggers/kiosk-sale")
    page.get_by_role("button", name="Start watching").first.click()
    page.wait_for_url("**/triggers/dc_*")
    return account, page.url


def run(page: Any, kiosk: Kiosk) -> Any:
    page.goto(f"{kiosk.product.url}/apps/kiosk/actions/kiosk-sell")
    page.get_by_label("What").fill("a newspaper")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Run action").click()
    return page.locator("#result")


def test_a_newer_version_is_found_seen_confirmed_and_taken_by_the_trigger(
    contexts: Callable[..., Any], kiosk: Kiosk, axe: Any
) -> None:
    kiosk.npm.publish(version("1.0.0"))
    page = contexts().new_page()
    owner = Person(page, kiosk.product)
    owner.sign_up(kiosk.product.start_url)
    add(page, kiosk)
    account, trigger = connect_and_watch(page, owner, kiosk)

    kiosk.npm.publish(version("1.1.0"))
    page.goto(kiosk.page_url)
    row = page.get_by_role("row", name=re.compile("Kiosk"))
    row.get_by_text("Newest").wait_for()
    page.get_by_role("button", name="Check for updates").click()
    page.get_by_text("npm was asked for newer versions just now.").wait_for()
    page.get_by_role("button", name="Look at 1.1.0: Kiosk").click()
    update = page.get_by_role("button", name="Update to 1.1.0: Kiosk")
    update.wait_for(timeout=60_000)
    stale = contexts(storage_state=page.context.storage_state()).new_page()
    stale.goto(kiosk.page_url)
    kiosk.npm.publish(version("1.2.0"))
    page.get_by_role("button", name="Check for updates").click()
    page.get_by_text("npm was asked for newer versions just now.").wait_for()

    fits(page, axe)
    integration = row.get_by_role("link", name="Kiosk", exact=True).get_attribute("href")
    questions = contexts(storage_state=page.context.storage_state()).new_page()
    for question in ("removal", "update"):
        questions.goto(f"{kiosk.product.url}{integration}/{question}")
        fits(questions, axe)
    update.click()
    row.get_by_text("1.2.0 is out").wait_for(timeout=60_000)
    stale.get_by_role("button", name="Update to 1.1.0: Kiosk").click()
    stale.get_by_text("does not wait to be added").wait_for()
    row.get_by_text("1 account, 1 trigger").wait_for()
    row.get_by_role("link", name="Kiosk", exact=True).click()
    page.get_by_label("Hosts, one on each line").wait_for()
    assert page.get_by_label("Hosts, one on each line").input_value() == "api.kiosk.example-shop.io"
    page.get_by_text("for triggers that run it").wait_for()
    fits(page, axe)

    page.goto(account)
    page.get_by_text("Working.").wait_for()
    run(page, kiosk).get_by_text("1.1.0").first.wait_for()
    page.goto(trigger)
    page.get_by_text("It runs version 1.0.0. Version 1.1.0 is available.").wait_for()
    fits(page, axe)
    page.get_by_role("button", name="Update to 1.1.0").click()
    page.get_by_text("now runs version 1.1.0").wait_for()
    assert page.get_by_text("is available").count() == 0
    page.get_by_text("1.1.0").first.wait_for()


def test_what_a_removed_one_leaves_says_so_and_continues_when_it_is_back(
    contexts: Callable[..., Any], kiosk: Kiosk, axe: Any
) -> None:
    kiosk.npm.publish(version("1.0.0"))
    page = contexts().new_page()
    owner = Person(page, kiosk.product)
    owner.sign_up(kiosk.product.start_url)
    add(page, kiosk)
    account, trigger = connect_and_watch(page, owner, kiosk)
    page.goto(kiosk.page_url)
    page.locator("summary[aria-label='More for Kiosk']").click()
    page.get_by_role("link", name="Remove…").click()
    question = page.get_by_role("dialog", name="Remove Kiosk?")
    question.get_by_text("1 running trigger stops until it is added again.").wait_for()
    question.get_by_role("button", name="Remove").click()
    page.get_by_text("Nothing added yet").wait_for()

    page.goto(account)
    page.get_by_text("Its app was removed.").wait_for()
    page.get_by_text(
        "Kiosk was removed from this service. The account works again when the app is added back."
    ).wait_for()
    fits(page, axe)
    page.goto(f"{kiosk.product.url}/accounts")
    page.get_by_role("row").get_by_text("App removed").wait_for()
    page.goto(trigger)
    page.get_by_text(
        "It waits, because Kiosk was removed from this service. It continues when the app is added back."
    ).wait_for()
    fits(page, axe)
    page.goto(f"{kiosk.product.url}/triggers")
    page.get_by_role("row").get_by_text("Component removed").wait_for()

    add(page, kiosk)
    page.goto(account)
    page.get_by_text("Working.").wait_for()
    page.goto(trigger)
    page.locator("#strip").get_by_text("Active").wait_for()
    run(page, kiosk).get_by_text("a newspaper").first.wait_for()


def test_an_authors_folder_is_followed_and_a_broken_change_is_reported(
    contexts: Callable[..., Any], kiosk: Kiosk, axe: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "piece-kiosk"
    folder.mkdir()
    manifest = {"name": "@acme/piece-kiosk", "version": "0.1.0", "main": "index.js"}
    (folder / "package.json").write_text(json.dumps(manifest))
    (folder / "index.js").write_text(KIOSK)
    command = [sys.executable, "-m", "webapp.cli.main", "piece", "add", str(folder)]
    database = stores.settings_of(Settings.from_env({}, data=kiosk.data).database)
    settings = {**database, "PATCHBAY_DATA": str(kiosk.data), "PATCHBAY_PIECE_REGISTRY": kiosk.npm.url}
    env = {**os.environ, **settings}
    added = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert added.returncode == 0, added.stderr
    page = contexts().new_page()
    owner = Person(page, kiosk.product)
    owner.sign_up(kiosk.product.start_url)
    page.goto(f"{kiosk.product.url}/apps/kiosk")
    page.get_by_text("Added from its author’s folder: @acme/piece-kiosk, 0.1.").wait_for()
    page.goto(kiosk.page_url)
    row = page.get_by_role("row", name=re.compile("Kiosk"))
    row.get_by_text("Follows its folder").wait_for()
    row.get_by_role("link", name="Kiosk", exact=True).click()
    page.get_by_text(str(folder)).wait_for()
    fits(page, axe)

    (folder / "index.js").write_text(KIOSK.replace('displayName: "Sell"', 'displayName: "Sell it"'))
    listed = f"{kiosk.product.url}/apps/kiosk/actions"
    until(page, listed, "Sell it")
    (folder / "index.js").write_text("this is no program")
    until(page, kiosk.page_url, "Not updated")
    fits(page, axe)
    page.goto(listed)
    page.get_by_text("Sell it").first.wait_for()
    (folder / "index.js").write_text(KIOSK.replace('displayName: "Sell"', 'displayName: "Sell again"'))
    until(page, listed, "Sell again")
    page.goto(kiosk.page_url)
    row.get_by_text("Working").wait_for()


def until(page: Any, url: str, text: str) -> None:
    """Look at the page again and again until it says ``text``."""
    for _ in range(60):
        page.goto(url)
        if page.get_by_text(text).count():
            return
        page.wait_for_timeout(500)
    raise AssertionError(f"{url} does not say {text!r}: {page.inner_text('main')}")
