"""The palette: by keyboard from any page, and as a page where there is no JavaScript."""

from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from webapp.people import users

pytestmark = pytest.mark.browser
EMAIL = "palette@example.com"


@pytest.fixture
def person(page: Any, product: Any) -> Person:
    """Somebody who has signed in."""
    if users.by_email(product.service.store, EMAIL) is None:
        users.create(product.service.store, product.service.clock, email=EMAIL, password=PASSWORD, role="developer")
    person = Person(page, product)
    person.sign_in(EMAIL)
    return person


def test_from_a_page_to_an_action_by_keys_alone(person: Person, product: Any, axe: Any) -> None:
    page = person.page
    page.goto(f"{product.url}/accounts")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search everything")
    palette.get_by_role("link", name="Accounts").wait_for()  # pages stand there at first
    assert page.evaluate("document.activeElement.id") == "palette-q"
    page.keyboard.type("sandbox create task")
    palette.locator("[data-query='sandbox create task']").wait_for(state="attached")  # what is found for all of it
    palette.get_by_role("link", name="Create task").first.wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe(page) == []
    page.keyboard.press("ArrowDown")
    assert "Create task" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "palette-q"
    page.keyboard.press("Enter")
    page.wait_for_url("**/actions/sandbox-create-task")
    page.keyboard.press("Control+k")
    palette.wait_for()
    page.keyboard.press("Escape")
    palette.wait_for(state="hidden")


def test_it_is_filled_from_the_moment_at_which_it_can_be_opened(person: Person, product: Any) -> None:
    page = person.page
    page.add_init_script("addEventListener('DOMContentLoaded', () => patchbay.openDialog('palette'))")
    page.goto(f"{product.url}/accounts")
    page.get_by_role("dialog", name="Search everything").get_by_role("link", name="Accounts").wait_for()


def test_what_is_not_found_is_said_and_enter_leads_to_the_page(person: Person, product: Any) -> None:
    page = person.page
    page.goto(f"{product.url}/apps")
    page.keyboard.press("Control+k")
    page.keyboard.type("zzzz")
    page.get_by_text("Nothing found for “zzzz”.").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=zzzz")
    page.get_by_role("heading", name="Search").wait_for()


def test_without_javascript_it_is_a_page_and_fits_a_phone(person: Person, product: Any, contexts: Any) -> None:
    page = contexts(java_script_enabled=False, viewport={"width": 360, "height": 740}).new_page()
    Person(page, product, scripts=False).sign_in(EMAIL)
    page.goto(f"{product.url}/search")
    page.get_by_role("searchbox", name="Search everything").fill("github")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=github")
    page.get_by_role("link", name="GitHub").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
