"""embed.js on the page of somebody's product: an account is connected in each mode, the third party's cookies being
blocked, and whatever stands in the way is told by name."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.conftest import serving
from tests.browser.embed.host import Host
from tests.browser.test_link import allow

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]
GO = "Continue to Sandbox Tasks"
READ = """async ([url, token, id]) => {
  const answer = await fetch(`${url}/v1/connect/accounts/${id}`, { headers: { Authorization: `Bearer ${token}` } });
  return [answer.status, (await answer.json()).id];
}"""
OUTCOME = """new Promise((done, fail) => {
  const look = () => outcome ? done(outcome) : setTimeout(look, 20);
  look();
  setTimeout(fail, 30000, new Error("connect had no outcome in 30 s"));
})"""


class Site:
    """The product's site, whose one user is ``user``."""

    def __init__(self, product: Any, host: Host, origin: str) -> None:
        self.product, self.host, self.origin = product, host, origin
        self.tokens: list[str] = []

    def page(self, page: Any, user: str, *, form: str = "", allowed: bool = True, **options: Any) -> Any:
        """``page`` at the product's, with the ``options`` of connect."""
        origins = [self.origin if allowed else "https://elsewhere.example"]
        self.tokens.clear()

        def token() -> str:
            self.tokens.append(self.product.token(user, allowed_origins=origins))
            return self.tokens[-1]

        self.host.token = token
        page.goto(f"{self.origin}/settings?tab=mail&form={form}&options={quote(json.dumps(options))}")
        return page

    def outcome(self, page: Any) -> Any:
        return page.evaluate(OUTCOME)


@pytest.fixture
def site(product: Any) -> Iterator[Site]:
    host = Host(f"{product.url}/embed")
    with serving(host, "127.0.0.1") as server:
        yield Site(product, host, f"http://127.0.0.1:{server.server_port}")


def click(page: Any) -> None:
    page.get_by_role("button", name="Connect", exact=True).click()


def opened_by_click(page: Any) -> Any:
    with page.expect_popup() as opened:
        click(page)
    return opened.value


def sign_in_from_the_frame(page: Any) -> None:
    frame = page.frame_locator("iframe")
    go = frame.get_by_role("link", name=GO).first
    go.wait_for()
    frame.locator("html.ready").wait_for(state="attached")
    with page.expect_popup() as opened:
        go.click()
    allow(opened.value)


@pytest.mark.parametrize(("width", "form"), [(1280, "classic"), (360, "module")])
def test_in_a_frame(contexts: Any, product: Any, site: Site, width: int, form: str) -> None:
    page = site.page(contexts(viewport={"width": width, "height": 800}).new_page(), f"f{width}@example.com", form=form)
    click(page)
    sign_in_from_the_frame(page)
    (account,) = [site.outcome(page)["id"]]
    assert page.evaluate(READ, [product.url, site.tokens[0], account]) == [200, account]
    assert page.evaluate("heard") == [["success", account], ["close"]]
    assert page.locator("iframe, dialog").count() == 0
    assert page.evaluate("document.activeElement.id") == "go", "the focus is where it was"


@pytest.mark.parametrize("width", [1280, 360])
def test_in_a_window(contexts: Any, product: Any, site: Site, width: int) -> None:
    page = site.page(
        contexts(viewport={"width": width, "height": 800}).new_page(), f"w{width}@example.com", mode="popup"
    )
    window = opened_by_click(page)
    window.get_by_role("link", name=GO).first.click()
    with window.expect_event("close"):
        allow(window)
    account = site.outcome(page)["id"]
    assert page.evaluate(READ, [product.url, site.tokens[0], account]) == [200, account]


def test_in_the_same_tab(page: Any, product: Any, site: Site) -> None:
    site.page(page, "redirect@example.com", mode="redirect")
    click(page)
    page.get_by_role("link", name=GO).first.click()
    allow(page)
    page.wait_for_url(f"{site.origin}/settings**")
    account = page.evaluate("back.id")
    assert page.evaluate(READ, [product.url, site.tokens[0], account]) == [200, account]
    assert "account_id" not in page.url and "patchbay" not in page.url and "tab=mail" in page.url


@pytest.mark.parametrize("mode", ["iframe", "popup"])
def test_an_origin_that_is_missing_is_named(page: Any, product: Any, site: Site, mode: str) -> None:
    site.page(page, "refused@example.com", mode=mode, allowed=False)
    click(page)
    outcome = site.outcome(page)
    assert outcome["code"] == "origin_not_allowed" and outcome["message"].startswith(f"{site.origin} is missing from")
    assert page.evaluate("heard") == [["error", "origin_not_allowed"], ["close"]]
    assert page.locator("iframe").count() == 0
    while len(page.context.pages) > 1:
        page.wait_for_timeout(50)
    read = "fetch(`${0}/v1/connect/accounts`, {headers: {Authorization: `Bearer ${1}`}}).then(() => 1, () => 0)"
    assert page.evaluate(read.replace("${0}", product.url).replace("${1}", site.tokens[0])) == 0
    page.context.problems.clear()  # the browser's own words about that


def test_close_can_be_pressed_only_once_it_would_close(page: Any, site: Site) -> None:
    scripts: list[Any] = []
    page.route("**/static/js/link.js*", lambda route: scripts.append(route))
    site.page(page, "early@example.com")
    click(page)
    close = page.frame_locator("iframe").locator("[data-post-close]").first
    close.wait_for(state="attached")
    while not scripts:
        page.wait_for_timeout(50)
    close.wait_for(state="hidden")  # once the style sheet is there, before which nothing is painted
    scripts[0].continue_()
    close.click()
    assert site.outcome(page)["code"] == "cancelled"


def test_leaving_is_an_error_with_a_code_of_its_own(page: Any, site: Site) -> None:
    site.page(page, "leave@example.com")
    click(page)
    page.get_by_role("dialog", name="Connect an account").wait_for()
    page.frame_locator("iframe").get_by_role("button", name="Close").click()
    assert site.outcome(page)["code"] == "cancelled" and page.evaluate("heard") == [["close"]]
    page.evaluate("outcome = null")
    click(page)
    page.frame_locator("iframe").get_by_role("link", name=GO).first.wait_for()
    page.evaluate("connection.close()")
    assert site.outcome(page)["code"] == "cancelled"


def test_a_window_that_is_closed_after_a_refusal_says_why(page: Any, site: Site) -> None:
    site.page(page, "denied@example.com", mode="popup")
    window = opened_by_click(page)
    window.get_by_role("link", name=GO).first.click()
    allow(window, button="Deny")
    window.get_by_role("heading", name="You cancelled").wait_for()
    window.locator("html.ready").wait_for(state="attached")
    assert page.evaluate("outcome") is None, "it can be tried again"
    window.close()
    assert site.outcome(page)["code"] == "access_denied"
    assert page.evaluate("heard") == [["error", "access_denied"], ["close"]]


@pytest.mark.parametrize("mode", ["iframe", "popup"])
def test_a_token_that_was_used_before_is_named(page: Any, product: Any, site: Site, mode: str) -> None:
    site.page(page, f"used-{mode}@example.com")
    click(page)
    sign_in_from_the_frame(page)
    account = site.outcome(page)["id"]
    page.evaluate(f"outcome = null, options.mode = '{mode}', options.token = '{site.tokens[0]}'")
    click(page)
    assert site.outcome(page)["code"] == "link_used"
    assert [one.id for one in product.accounts(f"used-{mode}@example.com")] == [account]


def test_a_second_click_is_the_same_connection(page: Any, site: Site) -> None:
    site.page(page, "twice@example.com", mode="popup")
    window = opened_by_click(page)
    window.get_by_role("link", name=GO).first.wait_for()
    click(page)
    assert page.evaluate("[calls.length, calls[0] === calls[1]]") == [2, True] and len(page.context.pages) == 2
    window.locator("html.ready").wait_for(state="attached")
    window.close()
    assert site.outcome(page)["code"] == "cancelled"
    again = opened_by_click(page)
    again.get_by_role("link", name=GO).first.wait_for()


def test_a_blocked_window_becomes_a_frame(contexts: Any, site: Site) -> None:
    context = contexts()
    context.add_init_script("if (window === top && !window.opener) window.open = () => null")
    page = site.page(context.new_page(), "blocked@example.com", mode="popup")
    click(page)
    sign_in_from_the_frame(page)
    assert site.outcome(page)["id"].startswith("apn_")


def test_a_browser_inside_an_app_continues_in_the_same_tab(contexts: Any, site: Site) -> None:
    agent = "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"
    page = site.page(contexts(user_agent=agent).new_page(), "inapp@example.com", mode="popup")
    click(page)
    page.get_by_role("link", name=GO).first.wait_for()
    assert page.url.startswith(site.product.url) and len(page.context.pages) == 1


def test_a_page_that_isolates_itself_asks_how_it_went(page: Any, site: Site) -> None:
    site.host.headers = [("Cross-Origin-Opener-Policy", "same-origin")]
    site.page(page, "isolated@example.com", mode="popup")
    with page.context.expect_page() as opened:
        click(page)
    window = opened.value
    window.get_by_role("link", name=GO).first.click()
    allow(window)
    assert site.outcome(page)["id"].startswith("apn_")


def test_a_page_that_shares_nothing_with_others_shows_the_frame(page: Any, site: Site) -> None:
    site.host.headers = [
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
    ]
    site.page(page, "shares-nothing@example.com")
    assert page.evaluate("crossOriginIsolated")
    click(page)
    frame = page.frame_locator("iframe")
    frame.locator("html.ready").wait_for(state="attached")
    assert frame.locator("img").evaluate_all("images => images.every((image) => image.naturalWidth)")
    with page.context.expect_page() as opened:
        frame.get_by_role("link", name=GO).first.click()
    allow(opened.value)
    assert site.outcome(page)["id"].startswith("apn_")


def test_a_policy_that_blocks_the_frame_is_named(contexts: Any, product: Any, site: Site) -> None:
    sources = f"default-src 'none'; script-src 'nonce-n'; connect-src 'self' {product.url}; style-src 'none'"
    site.host.headers = [("Content-Security-Policy", sources)]
    context = contexts()
    page = site.page(context.new_page(), "policy@example.com")
    click(page)
    outcome = site.outcome(page)
    assert outcome["code"] == "csp_blocked" and f"{product.url} to frame-src" in outcome["message"]
    assert all("frame" in problem or "default-src" in problem for problem in context.problems)
    context.problems.clear()


def test_messages_of_others_count_for_nothing(page: Any, product: Any, site: Site) -> None:
    site.page(page, "forged@example.com")
    click(page)
    page.frame_locator("iframe").get_by_role("link", name=GO).first.wait_for()
    forged = "{type: 'success', authProvisionId: 'apn_forged'}"
    page.evaluate(f"postMessage({forged}, '*')")
    other_source = f"new MessageEvent('message', {{ origin, source: window, data: {forged} }})"
    page.evaluate(f"origin => dispatchEvent({other_source})", product.url)
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    assert page.evaluate("outcome") is None


def test_a_page_that_takes_the_frame_away_can_open_another(page: Any, site: Site) -> None:
    site.page(page, "removed@example.com")
    click(page)
    page.frame_locator("iframe").get_by_role("link", name=GO).first.wait_for()
    page.evaluate("document.querySelector('dialog').remove()")
    page.evaluate("document.querySelector('#go').click()")
    page.frame_locator("iframe").get_by_role("link", name=GO).first.wait_for()
    assert page.evaluate("heard") == [["close"]]


def test_the_portal_asks_for_a_token_and_is_given_one_by_the_page(page: Any, product: Any, site: Site) -> None:
    asks = f"""<!doctype html><title>Portal</title><script>
      const tell = (id) => parent.postMessage({{ type: "success", authProvisionId: id }}, "{site.origin}");
      addEventListener("message", (event) => tell(event.data.token));
      parent.postMessage({{ type: "token-needed" }}, "{site.origin}");
    </script>"""
    page.context.route("**/portal?*", lambda route: route.fulfill(body=asks, content_type="text/html"))
    site.page(page, "portal@example.com")
    page.evaluate(
        """() => { window.portal = Patchbay.portal({
          tokenCallback: options.tokenCallback, element: "#place", app: "sandbox", nav: "off", language: "de",
          onSuccess: (account) => (window.outcome = account),
        }) }"""
    )
    assert site.outcome(page)["id"] == site.tokens[1], "the second token, for the message"
    source = page.locator("#place iframe").get_attribute("src")
    assert source == f"{product.url}/portal?token={site.tokens[0]}&app=sandbox&nav=off&language=de"
    page.evaluate("portal.close()")
    assert page.locator("iframe").count() == 0


def test_a_portal_that_was_closed_before_its_token_came_stays_closed(page: Any, site: Site) -> None:
    site.page(page, "early@example.com")
    page.evaluate(
        """async () => {
          const place = { element: "#place", onError: (error) => (window.told = error) };
          let give;
          const late = new Promise((resolve) => (give = resolve));
          Patchbay.portal({ ...place, tokenCallback: () => late }).close();
          Patchbay.portal({ ...place, tokenCallback: () => Promise.reject(new Error("late")) }).close();
          give("ctok_late");
          await new Promise((done) => setTimeout(done, 20));
        }"""
    )
    assert page.locator("iframe").count() == 0 and page.evaluate("window.told") is None
