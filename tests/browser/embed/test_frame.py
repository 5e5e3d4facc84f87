"""The Connect Link in somebody else's page: a card on a backdrop that is seen through, every way to close it, what a
page reads that may not have it, and a sign-in that began before the script ran."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.test_link import allow

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]
WHOLE = "position:fixed;inset:0;width:100%;height:100%;border:0"


def around(embedder: Any, url: str, head: str = "") -> str:
    """A page of ``embedder`` that lays the frame over all of itself, as existing clients do."""
    return f"{embedder.page(url)}&style={quote(WHOLE)}&head={quote(head)}"


def link(product: Any, embedder: Any, user: str, query: str = "&app=sandbox") -> str:
    token = product.token(user, allowed_origins=[embedder.origin])
    return f"{product.url}/_static/connect.html?token={token}{query}"


def messages(page: Any) -> list[Any]:
    page.wait_for_function("messages.length")
    return [message for _, message in page.evaluate("messages")]


@pytest.mark.parametrize("way", ["button", "escape", "outside"])
def test_closing_posts_a_bare_close(page: Any, product: Any, embedder: Any, way: str) -> None:
    page.goto(around(embedder, link(product, embedder, "close@example.com")))
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Continue to Sandbox Tasks").first.wait_for()
    frame.locator("html.ready").wait_for(state="attached")
    if way == "button":
        frame.get_by_role("button", name="Close").click()
    elif way == "escape":
        frame.get_by_role("heading").click()
        assert page.evaluate("messages") == []
        page.keyboard.press("Escape")
    else:
        page.mouse.click(20, 400)
    assert messages(page) == [{"type": "close"}]


def test_a_host_that_closes_by_itself_keeps_its_frame(page: Any, product: Any, embedder: Any) -> None:
    page.goto(around(embedder, link(product, embedder, "hide@example.com", "&app=sandbox&hideClose=true")))
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading").click()
    frame.locator("html.ready").wait_for(state="attached")
    page.keyboard.press("Escape")
    page.mouse.click(20, 400)
    assert frame.get_by_role("button", name="Close").count() == 0
    page.frames[1].evaluate("new Promise((done) => setTimeout(done))")
    assert page.evaluate("messages") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_card_stands_in_the_middle_and_the_page_is_seen_behind(
    contexts: Any, product: Any, embedder: Any, axe: Any, scheme: str, width: int
) -> None:
    page = contexts(color_scheme=scheme, viewport={"width": width, "height": 800}).new_page()
    page.goto(around(embedder, link(product, embedder, "card@example.com")))
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Continue to Sandbox Tasks").first.wait_for()
    card = frame.locator("main").bounding_box()
    assert card["width"] <= 460 and abs(card["x"] + card["width"] / 2 - width / 2) < 1
    assert abs(card["y"] + card["height"] / 2 - 400) < 2
    assert page.frames[1].evaluate("document.documentElement.scrollWidth") <= width
    behind = page.screenshot(clip={"x": 2, "y": 2, "width": 4, "height": 4})
    page.evaluate("document.documentElement.style.background = 'rgb(0, 90, 200)'")
    assert page.screenshot(clip={"x": 2, "y": 2, "width": 4, "height": 4}) != behind
    assert axe(page.frames[1]) == []


def test_a_stranger_reads_why_and_can_close(page: Any, product: Any, embedder: Any, other_embedder: Any) -> None:
    page.goto(around(other_embedder, link(product, embedder, "stranger@example.com")))
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Accounts can’t be connected from this site").wait_for()
    (error,) = messages(page)
    assert error["code"] == "origin_not_allowed" and error["error"].startswith(f"{other_embedder.origin} is missing")
    frame.locator("main").get_by_role("button", name="Close").click()
    page.wait_for_function("messages.length == 2")
    assert messages(page)[1] == {"type": "close"}
    assert product.accounts("stranger@example.com") == []


def test_a_stranger_that_hides_itself_is_refused_by_the_browser(
    contexts: Any, product: Any, embedder: Any, other_embedder: Any
) -> None:
    context = contexts()
    page = context.new_page()
    quiet = '<meta name="referrer" content="no-referrer">'
    with context.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(around(other_embedder, link(product, embedder, "hidden@example.com"), quiet))
    assert page.frame_locator("iframe").get_by_role("heading").count() == 0
    assert page.evaluate("messages") == []
    context.problems.clear()


def test_a_sign_in_that_began_before_the_script_ran_is_heard_of(page: Any, product: Any, embedder: Any) -> None:
    from playwright.sync_api import expect

    late: list[Any] = []
    page.context.route("**/js/link.js*", lambda route: late.append(route))
    page.goto(around(embedder, link(product, embedder, "early@example.com")), wait_until="commit")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading").wait_for()
    go = frame.get_by_role("link", name="Continue to Sandbox Tasks").first
    expect(go).to_have_css("pointer-events", "none")
    go.focus()
    with page.context.expect_page() as opened:
        page.keyboard.press("Enter")
    allow(opened.value)
    opened.value.get_by_text("You can close this window.").wait_for()
    for script in late:
        script.continue_()
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()


def test_a_page_that_isolates_itself_hears_all_the_same(page: Any, product: Any, embedder: Any) -> None:
    page.goto(around(embedder, link(product, embedder, "coop@example.com")) + "&coop=same-origin")
    frame = page.frame_locator("iframe")
    frame.locator("html.ready").wait_for(state="attached")
    with page.context.expect_page() as opened:
        frame.get_by_role("link", name="Continue to Sandbox Tasks").click()
    frame.get_by_role("heading", name="Finish at Sandbox Tasks").wait_for()
    allow(opened.value)
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()
    page.wait_for_function("messages.length == 2")
    assert [message["type"] for message in messages(page)] == ["success", "close"]
    url = page.locator("iframe").get_attribute("src")
    page.evaluate("url => { messages.length = 0; document.querySelector('iframe').src = url }", url)
    frame.get_by_role("heading", name="Connected", exact=True).wait_for()
    page.wait_for_function("messages.length == 2")
    assert messages(page)[0]["type"] == "success", "a reload shows it again"
