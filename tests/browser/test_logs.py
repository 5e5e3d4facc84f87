"""Logs in a real browser: filter, open a row, hear of what is new, save the list; and by links alone."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.person import PASSWORD, Person
from webapp.people import users
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run

pytestmark = pytest.mark.browser


def run(product: Any, user: str, summary: str) -> None:
    """A run of ``user`` that ends at once; one without a summary failed."""
    service, failed = product.service, not summary
    begun = Run(user, "sc_1", "http-send-request", "0.0.1", "http", service.clock())
    values: dict[str, Any] = {
        "configured_props": {"url": "https://a.example"},
        "masked_props": [],
        "dynamic_props_id": None,
    }
    runs.begin(service, product.scene, begun, values)
    ended = Run(
        user, "sc_1", "http-send-request", "0.0.1", "http", begun.started_at, 12, not failed, summary or None,
        "a.example did not answer." if failed else None, begun.id, "ended",
    )  # fmt: skip
    runs.end(service, product.scene, ended, outputs={"exports": {}, "os": [], "ret": {"n": 1}})


@pytest.fixture
def ada(product: Any) -> users.User:
    """A developer with two runs, of which one failed, beside a run of a user of the product, for each developer one."""
    service = product.service
    email = f"ada-{service.clock()}@example.com"
    made = users.create(service.store, service.clock, email=email, password=PASSWORD, role="developer")
    run(product, f"user-of-{made.id}", "Somebody else's")
    run(product, made.id, "Fetched a page")
    run(product, made.id, "")
    return made


def test_from_a_filter_to_a_row_to_what_is_new_to_a_file(
    contexts: Callable[..., Any], axe: Callable[..., list[Any]], product: Any, ada: users.User, tmp_path: Path
) -> None:
    page = contexts(accept_downloads=True, reduced_motion="reduce").new_page()
    Person(page, product).sign_in(ada.email)
    page.get_by_role("link", name="Logs", exact=True).first.click()
    page.get_by_role("heading", name="Logs", level=1).wait_for()
    rows = page.locator("details.log")
    expect(rows).to_have_count(2)
    page.wait_for_load_state()
    page.get_by_label("Status").select_option("failed")
    page.wait_for_url("**/logs?status=failed")
    expect(rows).to_have_count(1)
    rows.get_by_text("Failed").first.wait_for()
    rows.first.locator("summary").click()
    opened = rows.first.locator(".log-open")
    opened.get_by_text("Change its values or its account").wait_for()
    assert rows.first.get_by_text("a.example did not answer.").count() == 1, "its row says it, so nothing below does"
    opened.get_by_text('"url": "https://a.example"').first.wait_for()
    opened.get_by_role("link", name="Run again").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe(page, colours=scheme == "dark") == [], scheme
    run(product, ada.id, "")
    pill = page.get_by_role("link", name="Show 1 new entry")
    pill.wait_for()
    assert rows.count() == 1, "nothing has moved"
    pill.click()
    page.locator("details.log").nth(1).wait_for()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as JSON lines").click()
    file = tmp_path / "logs.jsonl"
    saved.value.save_as(file)
    assert [json.loads(line)["status"] for line in file.read_text("utf-8").splitlines()] == ["failed", "failed"]
    page.get_by_role("link", name="Whole project").click()
    page.wait_for_load_state()
    page.get_by_label("External user").fill(f"user-of-{ada.id}")
    page.get_by_label("External user").press("Enter")
    page.wait_for_url(f"**/build/logs?user=user-of-{ada.id}")
    expect(rows).to_have_count(1)


def test_without_a_script_filters_apply_and_rows_lead_to_their_pages(
    contexts: Callable[..., Any], product: Any, ada: users.User
) -> None:
    page = contexts(java_script_enabled=False).new_page()
    Person(page, product, scripts=False).sign_in(ada.email)
    page.goto(f"{product.url}/logs")
    page.get_by_label("Status").select_option("succeeded")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile(r"/logs\?status=succeeded&"))
    assert page.locator("details.log").count() == 1
    page.locator("details.log summary").click()
    page.get_by_role("link", name="Its own page").click()
    page.get_by_text("Fetched a page").first.wait_for()
    page.get_by_role("heading", name="Request", exact=True).wait_for()
    page.locator("summary", has_text="curl").click()
    page.get_by_text("actions/run").first.wait_for()
