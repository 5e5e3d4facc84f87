"""The Connect Link in a real browser: window, blocked window, one tab, frame, keyboard alone, no JavaScript."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def allow(window: Any, person: str = "Ada Lovelace", button: str = "Allow") -> None:
    """Decide on the sandbox's consent page."""
    window.get_by_text(person, exact=True).click()
    window.get_by_role("button", name=button, exact=True).click()


def test_a_window_opens_by_the_click_and_the_page_continues_by_itself(page: Any, product: Any) -> None:
    page.goto(product.link("window@example.com"))
    assert "token=" not in page.url
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    page.get_by_role("heading", name="Finish at Sandbox Tasks").wait_for()
    page.reload()
    page.get_by_role("heading", name="Finish at Sandbox Tasks").wait_for()  # and still waits
    with opened.value.expect_event("close"):
        allow(opened.value)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Connected"
    (account,) = product.accounts("window@example.com")
    assert account.identity_name == "Ada Lovelace"
    page.reload()
    page.get_by_role("heading", name="Connected", exact=True).wait_for()  # closing or reloading loses nothing


def test_a_window_that_comes_to_nothing_is_noticed_and_opened_again(page: Any, product: Any) -> None:
    page.clock.install()
    page.goto(product.link("lost@example.com"))
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    page.get_by_role("heading", name="Finish at Sandbox Tasks").wait_for()
    again = page.get_by_role("button", name="Open it again")
    assert not again.is_visible()
    opened.value.close()
    page.clock.fast_forward(8_000)
    page.get_by_role("status").get_by_text("Nothing has happened yet.").wait_for()
    assert not page.get_by_role("button", name="Start again").is_visible()  # one way on, not two
    again.click()
    with page.expect_popup() as reopened:
        page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    allow(reopened.value)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()


def test_the_page_follows_the_success_address(page: Any, product: Any, embedder: Any) -> None:
    page.goto(product.link("success@example.com", success_redirect_uri=f"{embedder.origin}/done?step=2"))
    assert page.get_by_text("Afterwards you go back to 127.0.0.1").is_visible()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    allow(opened.value)
    page.wait_for_url(re.compile(rf"{embedder.origin}/done\?step=2&account_id=apn_"))


def test_who_is_connected_already_is_asked_in_the_window(page: Any, product: Any, axe: Any) -> None:
    for number in (1, 2):
        page.goto(product.link("twice@example.com"))
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Continue to Sandbox Tasks").click()
        allow(opened.value)
        if number == 2:
            window = opened.value
            window.get_by_role("heading", name="This account is connected already").wait_for()
            assert axe(window) == []
            window.get_by_label("Keep both, side by side").check()
            with window.expect_event("close"):
                window.get_by_role("button", name="Continue").click()
        page.get_by_role("heading", name="Connected", exact=True).wait_for()
    names = {account.name for account in product.accounts("twice@example.com")}
    assert names == {"ada@sandbox.example", "ada@sandbox.example (2)"}


def test_denying_in_the_window_is_named_and_can_be_tried_again(page: Any, product: Any) -> None:
    page.goto(product.link("deny@example.com"))
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    allow(opened.value, button="Deny")
    page.get_by_role("heading", name="You cancelled").wait_for()
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("link", name="Continue to Sandbox Tasks").wait_for()
    assert product.accounts("deny@example.com") == []


def test_a_blocked_window_continues_in_the_same_tab(contexts: Any, product: Any) -> None:
    context = contexts()
    context.add_init_script("window.open = () => null")
    page = context.new_page()
    page.goto(product.link("blocked@example.com"))
    page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    page.get_by_text("Your browser blocked the window").wait_for()
    page.wait_for_url(f"{product.sandbox_url}/**")
    allow(page)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    assert len(product.accounts("blocked@example.com")) == 1


def test_staying_in_this_tab(page: Any, product: Any) -> None:
    page.goto(product.link("tab@example.com"))
    page.get_by_text("Read only", exact=True).click()
    assert page.get_by_text("Create, change and delete tasks").is_hidden()
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    allow(page)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    (account,) = product.accounts("tab@example.com")
    assert account.scope_profile == "read_only"


def framed(product: Any, embedder: Any, user: str, query: str = "&app=sandbox") -> str:
    token = product.token(user, allowed_origins=[embedder.origin, "https://elsewhere.example"])
    return str(embedder.page(f"{product.url}/_static/connect.html?token={token}{query}"))


@pytest.mark.whole_chromium
def test_a_frame_on_another_site_needs_no_cookie(page: Any, product: Any, embedder: Any) -> None:
    page.goto(framed(product, embedder, "frame@example.com"))
    frame = page.frame_locator("iframe")
    with page.expect_popup() as opened:
        frame.get_by_role("link", name="Continue to Sandbox Tasks").click()
    with opened.value.expect_event("close"):
        allow(opened.value)
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()
    (account,) = product.accounts("frame@example.com")
    page.wait_for_function("messages.length >= 2")
    assert page.evaluate("messages") == [
        [product.url, {"type": "success", "authProvisionId": account.id}],
        [product.url, {"type": "close"}],
    ]
    probe = 'document.cookie = "probe=1; SameSite=None; Secure", document.cookie'
    assert page.frames[1].evaluate(probe) == ""  # third-party cookies are blocked here
    names = {cookie["name"] for cookie in page.context.cookies()} - {"sandbox_session"}
    assert {re.sub("_[^_]*$", "", name) for name in names} == {"patchbay_signin"}  # the window's own, and no other


def test_an_outcome_that_two_answers_draw_is_told_once(page: Any, product: Any, embedder: Any) -> None:
    page.goto(framed(product, embedder, "told-once@example.com"))
    frame = page.frame_locator("iframe")
    held: list[Any] = []
    with page.expect_popup() as opened:
        frame.get_by_role("link", name="Continue to Sandbox Tasks").click()
    page.route("**/connect/status", lambda route: route.continue_() if held else held.append(route))
    with opened.value.expect_event("close"):
        allow(opened.value)
    while not held:
        page.wait_for_timeout(50)
    page.frames[1].evaluate("htmx.trigger('[data-poll]', 'poll')")  # as when the window says that it is done
    with page.expect_response("**/connect/status"), page.expect_response("**/connect/status"):
        held[0].continue_()
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()
    page.wait_for_timeout(500)
    assert [message["type"] for _, message in page.evaluate("messages")] == ["success", "close"]


@pytest.mark.whole_chromium
def test_an_error_is_told_to_the_embedding_page(page: Any, product: Any, embedder: Any) -> None:
    page.goto(framed(product, embedder, "error@example.com", "&app=github"))
    page.wait_for_function("messages.length")
    ((origin, message),) = page.evaluate("messages")
    assert origin == product.url and message["type"] == "error" and "OAuth client" in message["error"]


@pytest.mark.whole_chromium
def test_a_blocked_window_in_a_frame_offers_a_new_tab(contexts: Any, product: Any, embedder: Any) -> None:
    context = contexts()
    context.add_init_script("window.open = () => null")
    page = context.new_page()
    page.goto(framed(product, embedder, "framed-blocked@example.com"))
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Continue to Sandbox Tasks").click()
    frame.get_by_text("Your browser blocked the window").wait_for()
    with context.expect_page() as opened:
        frame.get_by_role("link", name="Use a new tab instead").locator("visible=true").click()
    allow(opened.value)
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()
    assert len(product.accounts("framed-blocked@example.com")) == 1


@pytest.mark.whole_chromium
def test_keys_in_a_frame(page: Any, product: Any, embedder: Any, contexts: Any) -> None:
    page.goto(framed(product, embedder, "keys@example.com", "&app=sandbox_keys"))
    frame = page.frame_locator("iframe")
    button = frame.get_by_role("button", name="Connect Sandbox Tasks")
    assert button.is_disabled()
    frame.get_by_label("API key", exact=True).fill("sbx_live_wrong")
    button.click()
    frame.get_by_role("alert").wait_for()
    assert frame.get_by_label("API key", exact=True).input_value() == ""
    keys = contexts().new_page()
    keys.goto(f"{product.sandbox_url}/keys")
    key = re.search(r"sbx_live_[0-9a-f]{40}", keys.content())[0]  # type: ignore[index]
    frame.get_by_label("API key", exact=True).fill(key)
    button.click()
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()
    page.wait_for_function("messages.length >= 2")
    assert page.evaluate("messages[0][1].type") == "success"


def test_the_keyboard_is_enough(page: Any, product: Any) -> None:
    page.goto(product.link("keyboard@example.com", app=None))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.type("sandbox tasks")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=sandbox**")
    row = page.get_by_role("button", name="Sandbox Tasks A small to-do service on this machine, connected by OAuth")
    row.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Continue to Sandbox Tasks").wait_for()
    page.locator("html.ready").wait_for(state="attached")
    page.get_by_label("Full access").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_label("Read only").is_checked()
    with page.expect_popup() as opened:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    allow(opened.value)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    (account,) = product.accounts("keyboard@example.com")
    assert account.scope_profile == "read_only"


def test_everything_but_the_window_works_without_javascript(contexts: Any, product: Any) -> None:
    page = contexts(java_script_enabled=False).new_page()
    page.goto(product.link("plain@example.com", app=None))
    page.get_by_role("button", name=re.compile("connected by OAuth")).click()
    page.get_by_text("Read only", exact=True).click()
    page.get_by_role("link", name="Continue to Sandbox Tasks").locator("visible=true").click()
    allow(page)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    (account,) = product.accounts("plain@example.com")
    assert account.scope_profile == "read_only"


@pytest.mark.whole_chromium
def test_a_frame_works_without_javascript(contexts: Any, product: Any, embedder: Any) -> None:
    context = contexts(java_script_enabled=False)
    page = context.new_page()
    page.goto(framed(product, embedder, "plain-frame@example.com"))
    frame = page.frame_locator("iframe")
    with context.expect_page() as opened:
        frame.get_by_role("link", name="Continue to Sandbox Tasks").locator("visible=true").click()
    allow(opened.value)
    opened.value.get_by_text("You can close this window.").wait_for()
    frame.get_by_role("button", name="Continue here").click()
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()


def states(product: Any) -> dict[str, str]:
    """Addresses of every state that an address alone can show."""
    link = product.link
    return {
        "choose": link("axe@example.com", app=None),
        "oauth": link("axe@example.com"),
        "keys": link("axe@example.com", app="sandbox_basic"),
        "postgresql": link("axe@example.com", app="postgresql"),
        "no client": link("axe@example.com", app="github"),
        "own client": f"{link('axe@example.com', app='github')}&customOauthClient=true",
        "no account": link("axe@example.com", app="http"),
        "missing": f"{product.url}/_static/connect.html",
        "unknown": f"{product.url}/_static/connect.html?token=ctok_0",
        "sign-in": f"{product.url}/connect/oauth/callback?state=x",
    }


def walked(page: Any, product: Any, user: str) -> Iterator[str]:
    """Takes ``page`` to each state that has to be walked to, and names it."""
    page.goto(product.link(user, app="sandbox_keys"))
    page.get_by_label("API key", exact=True).fill("sbx_live_wrong")
    page.get_by_role("button", name="Connect Sandbox Tasks").click()
    page.get_by_role("alert").wait_for()
    yield "refused keys"
    used = product.link(user)
    page.goto(used)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Continue to Sandbox Tasks").click()
    page.get_by_role("heading", name="Finish at Sandbox Tasks").wait_for()
    yield "waiting"
    allow(opened.value, button="Deny")
    page.get_by_role("heading", name="You cancelled").wait_for()
    yield "cancelled"
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    allow(page)
    page.get_by_role("heading", name="Connected", exact=True).wait_for()
    yield "connected"
    page.context.clear_cookies()
    page.goto(used)
    page.get_by_role("heading", name="This link was already used").wait_for()
    yield "used up"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_overflows(contexts: Any, product: Any, axe: Any, scheme: str) -> None:
    page = contexts(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 320, "height": 640}).new_page()
    for name, url in states(product).items():
        page.goto(url)
        assert axe(page, colours=scheme == "dark") == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
    for name in walked(page, product, f"axe-{scheme}@example.com"):
        assert axe(page, colours=scheme == "dark") == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
