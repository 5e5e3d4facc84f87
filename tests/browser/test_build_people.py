"""Build: People in a real browser: somebody is invited, accepts in another browser, gets a role and is locked out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from tests.fakes.served import Served, served

pytestmark = pytest.mark.browser


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "data") as product:
        yield product


def test_somebody_is_invited_accepts_and_is_locked_out(contexts: Any, fresh: Served, axe: Any) -> None:
    page, theirs = contexts().new_page(), contexts().new_page()
    Person(page, fresh).sign_up(fresh.start_url)
    page.get_by_role("navigation", name="Build").get_by_role("link", name="People").click()
    page.get_by_label("E-mail addresses").fill("lena@example.com, kim@example.com")
    page.get_by_label("As", exact=True).select_option("developer")
    page.get_by_role("button", name="Create invitation links").click()
    page.get_by_role("alert").get_by_text("It is shown only once.").wait_for()
    link = page.locator(".whole code").first.inner_text()
    assert axe(page) == []

    theirs.goto(link)
    assert axe(theirs) == []
    theirs.get_by_label("Password", exact=True).fill(PASSWORD)
    theirs.get_by_role("button", name="Accept and sign in").click()
    Person(theirs, fresh).heading("Apps")
    assert theirs.get_by_role("link", name="People").count() == 0

    page.goto(f"{fresh.url}/build/people")
    page.get_by_text("1 waits for an answer").wait_for()
    page.get_by_label("Role of lena@example.com").select_option("member")
    page.locator("#status").get_by_text("lena@example.com is Member now.").wait_for()
    assert page.get_by_label("Role of lena@example.com").input_value() == "member"
    page.get_by_label("More for lena@example.com").click()
    page.get_by_role("link", name="Lock out…").click()
    question = page.get_by_role("dialog", name="Lock lena@example.com out?")
    question.wait_for()
    assert axe(page) == []
    question.get_by_role("button", name="Lock out").click()
    page.get_by_role("button", name="Allow again").wait_for()
    assert axe(page) == []
    theirs.goto(f"{fresh.url}/apps")
    theirs.get_by_role("heading", name="Sign in").wait_for()
