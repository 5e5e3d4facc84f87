"""Build: Workflows in a real browser: one is added, its key revealed, chosen on the page of a trigger, and removed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.person import Person
from tests.fakes.served import Served, served

pytestmark = pytest.mark.browser


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "data") as product:
        yield product


def test_a_workflow_is_added_chosen_and_removed(contexts: Any, fresh: Served, axe: Any) -> None:
    page = contexts().new_page()
    Person(page, fresh).sign_up(fresh.start_url)
    page.get_by_role("navigation", name="Build").get_by_role("link", name="Workflows").click()
    page.get_by_text("No workflow yet").wait_for()
    assert axe(page) == []
    page.get_by_label("Name").fill("Orders")
    page.get_by_label("Webhook URL").fill("https://app.example.com/orders")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("alert").get_by_text("Workflow is ready.").wait_for()
    assert axe(page) == []

    page.goto(f"{fresh.url}/apps/http/triggers/http-new-requests")
    page.get_by_role("button", name="Start watching").click()
    page.get_by_role("link", name="Choose workflows…").click()
    question = page.get_by_role("dialog", name="Send to workflows")
    question.get_by_label("Orders").check()
    assert axe(page) == []
    question.get_by_role("button", name="Save").click()
    page.locator("#places").get_by_text("Orders").wait_for()

    page.goto(f"{fresh.url}/build/workflows")
    page.get_by_text("1 trigger sends here").wait_for()
    page.get_by_role("button", name="Reveal key of Orders").click()
    page.get_by_text("whsec_").wait_for()
    page.get_by_role("link", name="Remove Orders").click()
    question = page.get_by_role("dialog", name="Remove this workflow?")
    question.get_by_text("Triggers that send there now").wait_for()
    assert axe(page) == []
    question.get_by_role("button", name="Remove").click()
    page.get_by_text("No workflow yet").wait_for()
