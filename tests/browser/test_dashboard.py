"""The dashboard in a real browser: a newcomer's whole first day, with JavaScript, without it, and by keyboard."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import need
from tests.browser.person import Person
from tests.fakes.served import Served, served
from webapp.kit import assets

pytestmark = pytest.mark.browser


@pytest.fixture
def fresh(tmp_path: Path, chromium: Any) -> Iterator[Served]:
    """``patchbay serve``, started for the first time."""
    need((assets.static_dir() / "vendor" / "stamp.json").is_file(), "run `python -m webapp.frontend` first")
    with served(tmp_path / "data") as found:
        yield found


@pytest.mark.parametrize("scripts", [True, False], ids=["javascript", "without"])
def test_a_newcomers_first_day(contexts: Any, fresh: Served, scripts: bool) -> None:
    ada = Person(contexts(java_script_enabled=scripts).new_page(), fresh, scripts=scripts)
    page = ada.page
    assert re.fullmatch(rf"{fresh.url}/start\?token=\S+", fresh.start_url)
    ada.sign_up(fresh.start_url)

    page.get_by_role("searchbox").fill("sandbox tasks")
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url("**q=sandbox*")
    page.get_by_role("link", name="Sandbox Tasks (key)", exact=True).wait_for()
    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Allow")
    ada.connected()

    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Deny")
    if scripts:
        page.get_by_role("heading", name="You cancelled").wait_for()
    else:  # in one tab, the provider's answer leads straight back to where the person came from
        page.get_by_role("alert").get_by_text("Connect again whenever you like.").wait_for()
    assert ada.accounts() == ["ada@sandbox.example"]

    key = ada.working_key()
    ada.choose("Sandbox Tasks (key)")
    ada.send_key(key[:-1] + ("0" if key[-1] != "0" else "1"))
    page.get_by_role("alert").get_by_text("Nothing was connected.").wait_for()
    assert key[:-1] not in page.content()
    ada.send_key(key)
    ada.connected()
    assert len(ada.accounts()) == 2
    assert page.locator("tbody .badge").all_inner_texts() == ["Working", "Working"]

    page.get_by_role("row").filter(has_text="Sandbox Tasks (key)").get_by_role("link").click()
    ada.button("Test now").click()
    page.get_by_role("status").get_by_text("works:").wait_for()
    page.get_by_role("link", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("Key for tests")
    ada.button("Save name").click()
    page.get_by_role("status").get_by_text("The account is now called Key for tests.").wait_for()
    ada.heading("Key for tests")

    page.locator("summary[aria-label=More]").click()
    page.get_by_role("link", name="Disconnect…").click()
    page.get_by_role("heading", name="Disconnect Key for tests?").wait_for()
    ada.button("Disconnect").click()
    page.get_by_role("status").get_by_text("Key for tests is disconnected.").wait_for()
    assert ada.accounts() == ["ada@sandbox.example"]

    ada.button("Sign out").locator("visible=true").click()
    ada.heading("Sign in")
    page.goto(fresh.start_url)
    ada.heading("Sign in")  # the start link works once


def test_the_keyboard_is_enough_to_connect(contexts: Any, fresh: Served) -> None:
    page = contexts().new_page()
    ada, keys = Person(page, fresh), page.keyboard
    ada.sign_up(fresh.start_url)
    keys.press("/")
    keys.type("sandbox tasks (key)")
    page.wait_for_url(re.compile(r"q=sandbox(\+|%20)tasks(\+|%20)(\(|%28)key"))
    tab_to(page, "a", "Sandbox Tasks (key)")
    keys.press("Enter")
    ada.heading("Sandbox Tasks (key)")
    tab_to(page, "button", "Connect")
    keys.press("Enter")
    page.wait_for_url("**/_static/connect/**")
    key = ada.working_key()
    tab_to(page, "input", "")
    keys.type(key)
    tab_to(page, "button", "Connect Sandbox Tasks (key)")
    keys.press("Enter")
    ada.connected()
    tab_to(page, "button", "Test now")
    keys.press("Enter")
    page.get_by_role("status").get_by_text("works:").wait_for()
    expect(page.get_by_role("button", name="Test now")).to_be_focused()


def tab_to(page: Any, tag: str, text: str) -> None:
    """Press Tab until the element with this text has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if focused(page) == [tag, text]:
            return
    raise AssertionError(f"no {tag} “{text}” within 80 steps")


def focused(page: Any) -> Any:
    """Tag and text of what has the focus."""
    return page.evaluate("(one => [one.localName, one.innerText.trim().split('\\n')[0]])(document.activeElement)")
