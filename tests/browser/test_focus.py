"""Parts of pages are exchanged without losing anybody: the focus stays or moves on purpose, and what changed is said.

Each state is looked at by axe in both themes.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.conftest import PATIENCE_MS
from tests.browser.person import PASSWORD, Person
from tests.browser.test_component import fill_fields
from webapp.people import users
from webapp.service.domain.accounts import account_state
from webapp.service.domain.accounts.accounts import Account

pytestmark = pytest.mark.browser

ME = "focus@example.com"
ACTION = "/apps/sandbox/actions/sandbox-create-task"


@pytest.fixture(scope="module")
def cookies(product: Any, chromium: Any) -> Any:
    """The cookies of somebody with two accounts at the sandbox."""
    users.create(product.service.store, product.service.clock, email=ME, password=PASSWORD, role="owner")
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE_MS)
    person = Person(context.new_page(), product)
    person.sign_in(ME)
    person.heading("Apps")
    for name in ("Ada Lovelace", "Grace Hopper"):
        person.choose("Sandbox Tasks")
        person.decide(person.leave(), "Allow", name)
        person.connected()
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def desk(contexts: Callable[..., Any], cookies: Any) -> Any:
    """A page of that person's."""
    return contexts(reduced_motion="reduce", storage_state=cookies).new_page()


@pytest.fixture
def check(axe: Any) -> Callable[[Any], None]:
    """Looks at a page in both themes."""

    def look(page: Any) -> None:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert axe(page, colours=scheme == "dark") == [], scheme

    return look


def focus(page: Any, text: str) -> None:
    """Waits until what has the focus has this id, or else a text that begins so."""
    here = "((one) => one === document.body ? '' : one.id || one.innerText.trim())(document.activeElement)"
    page.wait_for_function(f"text => {here}.startsWith(text)", arg=text)


def accounts_of_mine(product: Any) -> list[Account]:
    """Both accounts, as they are now."""
    me = users.by_email(product.service.store, ME)
    return list(product.accounts(me.id)) if me else []


def said(page: Any, text: str | re.Pattern[str]) -> None:
    """The status region says so."""
    page.get_by_role("status").get_by_text(text, exact=True).wait_for(state="attached")


def test_searching_and_filtering_apps(desk: Any, product: Any, check: Any) -> None:
    desk.goto(f"{product.url}/apps")
    search = desk.get_by_role("searchbox")
    search.press_sequentially("sandbox")
    said(desk, re.compile(r"^3 apps, \d+ actions and triggers$"))
    focus(desk, "q")
    search.press_sequentially("zzzzz")
    said(desk, "No app matches")
    check(desk)
    search.fill("")
    desk.wait_for_url("**/apps")
    desk.get_by_role("navigation", name="State").get_by_role("link", name="Ready").press("Enter")
    desk.wait_for_url("**state=ready")
    desk.get_by_role("heading", name="Needs setup").wait_for(state="detached")
    focus(desk, "Ready")
    desk.locator("#more-categories").press("Enter")
    desk.get_by_role("navigation", name="Category").get_by_role("link", name="E-mail").press("Enter")
    desk.wait_for_url("**category=*")
    desk.locator("nav.chips [aria-current=true]", has_text="E-mail").wait_for()
    focus(desk, "E-mail")
    check(desk)


def test_a_chip_that_is_chosen_or_focused_is_beside_the_fade(desk: Any, product: Any) -> None:
    desk.set_viewport_size({"width": 360, "height": 740})
    desk.goto(f"{product.url}/apps")
    chips = desk.get_by_role("navigation", name="Category").locator("a.chip")
    for number in (4, 5):
        chips.nth(number).focus()
        chips.nth(number).press("Shift+Tab")
        assert is_clear(desk), desk.evaluate("document.activeElement.textContent")
        chips.nth(number).focus()
        assert is_clear(desk), chips.nth(number).text_content()
    desk.goto(f"{product.url}{chips.nth(4).get_attribute('href')}")
    desk.locator("nav.chips [aria-current=true]").evaluate("(chip) => chip.focus({preventScroll: true})")
    assert is_clear(desk), "the chosen one, without being scrolled to"


def is_clear(page: Any) -> bool:
    """Whether nothing of the focused chip is in the 36 px at an edge behind which there are more."""
    return bool(
        page.evaluate("""() => {
        const chip = document.activeElement.getBoundingClientRect(), list = document.activeElement.closest("nav");
        const box = list.getBoundingClientRect(), left = list.scrollWidth - list.clientWidth - list.scrollLeft;
        return chip.left >= box.left + (list.scrollLeft > 1 ? 36 : 0) && chip.right <= box.right - (left > 1 ? 36 : 0);
    }""")
    )


def test_filtering_accounts(desk: Any, product: Any, check: Any) -> None:
    desk.goto(f"{product.url}/accounts")
    desk.get_by_role("navigation", name="Status").get_by_role("link", name="Working").press("Enter")
    said(desk, "2 accounts")
    focus(desk, "Working")
    check(desk)


def test_filling_in_and_running_an_action(desk: Any, product: Any, check: Any) -> None:
    desk.goto(product.url + ACTION)
    desk.get_by_label("Account").focus()
    other = "ada@sandbox.example"
    assert other not in desk.locator("#runs-as").inner_text()
    desk.keyboard.press("ArrowDown")
    desk.locator("#runs-as", has_text=other).wait_for()
    desk.wait_for_function("() => !document.querySelector('.htmx-request')")
    assert desk.evaluate("document.activeElement.name") == "p.account"

    run = desk.locator("[data-run]")
    run.press("Enter")
    desk.get_by_role("alert").get_by_text("Fill in 2 required fields.").wait_for()
    focus(desk, "Fill in 2 required fields.")
    assert not desk.get_by_role("dialog").count()
    check(desk)

    desk.locator("#f-project_id-summary").press("Enter")
    desk.locator("#f-project_id-list").get_by_text("Type to search all of them.").wait_for()
    desk.get_by_role("searchbox", name="Search Project").fill("quarry")
    desk.locator("#f-project_id-list label.check", has_text="uarry").first.click()
    desk.get_by_role("status").get_by_text("Fields updated: added").wait_for()
    focus(desk, "f-project_id-summary")
    desk.get_by_label("Title").fill("Mind the focus")
    fill_fields(desk)
    desk.wait_for_function("() => !document.querySelector('.htmx-request')")
    run.press("Enter")
    dialog = desk.get_by_role("dialog", name="Run “Create task”?")
    dialog.get_by_text(f"It runs as {other}.").wait_for()
    check(desk)
    desk.keyboard.press("Escape")
    focus(desk, "run-button")
    run.press("Enter")
    dialog.get_by_role("button", name="Run action").press("Enter")
    desk.get_by_role("status").get_by_text("Created task Mind the focus").wait_for()
    focus(desk, "run-button")
    desk.goto(product.url + ACTION)
    desk.get_by_role("region", name="Outcome").get_by_text("Created task Mind the focus").wait_for()
    check(desk)


def test_a_number_out_of_range(desk: Any, product: Any) -> None:
    desk.goto(f"{product.url}/apps/sandbox/actions/sandbox-show-all-props")
    if not desk.locator("#optional-fields[open]").count():
        desk.locator("#optional-summary").press("Enter")
    desk.locator("#f-more").fill("2")
    desk.keyboard.press("Tab")
    desk.get_by_role("status").get_by_text("added Field 1, Field 2").wait_for()
    desk.get_by_label("Field 2").wait_for()
    focus(desk, "optional-summary")
    desk.locator("#f-more").fill("99")
    desk.keyboard.press("Tab")
    desk.get_by_role("status").get_by_text("must be at most 5").wait_for()
    assert desk.get_by_label("Field 2").is_visible()


def test_a_question_in_a_dialog(desk: Any, product: Any, check: Any) -> None:
    account = accounts_of_mine(product)[0]
    desk.goto(f"{product.url}/accounts/{account.id}")
    desk.locator("summary[aria-label=More]").press("Enter")
    desk.get_by_role("link", name="Disconnect…").press("Enter")
    dialog = desk.get_by_role("dialog", name=f"Disconnect {account.name}?")
    dialog.get_by_role("button", name="Disconnect").wait_for()
    focus(desk, "Cancel")
    check(desk)
    desk.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    assert desk.evaluate("document.activeElement.getAttribute('aria-label')") == "More"


def test_renaming_an_account(desk: Any, product: Any) -> None:
    account = accounts_of_mine(product)[1]
    desk.goto(f"{product.url}/accounts/{account.id}")
    desk.get_by_role("link", name="Rename").press("Enter")
    name = desk.get_by_role("textbox", name="Name")
    name.fill("Boat yard")
    name.press("Enter")
    said(desk, "The account is now called Boat yard.")
    focus(desk, "Rename")
    assert desk.title() == "Boat yard · Patchbay"


@pytest.fixture
def dead(product: Any, cookies: Any) -> Iterator[None]:
    """Both accounts have ended; they work again after the test."""
    for account in accounts_of_mine(product):
        account_state.mark_dead(product.service, account, "Sandbox Tasks withdrew the access.")
    yield
    for account in accounts_of_mine(product):
        account_state.mark_working(product.service, account)


@pytest.mark.usefixtures("dead")
def test_a_dead_account_is_reconnected_from_an_action(desk: Any, product: Any, check: Any) -> None:
    desk.goto(product.url + ACTION)
    check(desk)
    desk.get_by_role("button", name="Reconnect").press("Enter")
    desk.get_by_role("heading", name="Reconnect your Sandbox Tasks account").wait_for()
