"""The portal in a product's frame on another site, with its cookies blocked: used, renewed, and put to sleep."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]

CONNECT = re.compile("^Connect")


class Portal:
    """A product's page with the portal in it; ``tokens`` are what the product gives when it is asked."""

    def __init__(self, page: Any, product: Any, embedder: Any, user: str) -> None:
        self.page, self.product, self.embedder, self.user = page, product, embedder, user
        self.frame = page.frame_locator("iframe")

    def token(self, user: str | None = None, **order: Any) -> str:
        return str(self.product.token(user or self.user, allowed_origins=[self.embedder.origin], **order))

    def open(self, query: str = "", **order: Any) -> str:
        token = self.token(**order)
        url = self.embedder.page(f"{self.product.url}/portal?token={token}{query}")
        self.page.goto(f"{url}&style=width:100%25;height:860px;border:0")
        return token

    def give(self, token: str) -> None:
        """The product gives a token, asked for or not."""
        self.page.evaluate(
            "([token, origin]) => document.querySelector('iframe').contentWindow"
            ".postMessage({type: 'token', token}, origin)",
            [token, self.product.url],
        )

    def told(self, kind: str) -> list[Any]:
        """What the product's page was told."""
        messages = self.page.evaluate("messages")
        assert {origin for origin, _ in messages} <= {self.product.url}
        return [message for _, message in messages if message["type"] == kind]

    def heading(self, name: str) -> Any:
        self.frame.get_by_role("heading", name=name, exact=True).first.wait_for()

    @property
    def address(self) -> str:
        """The address of the page in the frame."""
        return str(self.page.frames[1].evaluate("location.href"))


@pytest.fixture
def portal(page: Any, product: Any, embedder: Any, request: pytest.FixtureRequest) -> Portal:
    return Portal(page, product, embedder, f"{request.node.name[:40]}@example.com")


def connect(portal: Portal, person: str = "Ada Lovelace") -> None:
    """From the page of the sandbox to a connected account, by a window of the sandbox's own."""
    frame = portal.frame
    frame.get_by_role("button", name=CONNECT).click()
    frame.locator("html.ready").wait_for(state="attached")
    with portal.page.expect_popup() as opened:
        frame.get_by_role("link", name="Continue to Sandbox Tasks").locator("visible=true").first.click()
    opened.value.get_by_text(person, exact=True).click()
    opened.value.get_by_role("button", name="Allow", exact=True).click()
    frame.get_by_text(re.compile(r" is connected( as .+)?\.$")).first.wait_for()


def test_a_user_connects_and_works_inside_a_product(portal: Portal, axe: Any) -> None:
    token = portal.open()
    frame = portal.frame
    portal.heading("Connect the tools you use already")
    assert token not in portal.address and token not in portal.page.frames[1].content()
    frame.get_by_role("link", name="Choose an app").click()
    frame.get_by_role("link", name="Sandbox Tasks", exact=True).click()
    connect(portal)
    portal.page.wait_for_function("messages.some(([, message]) => message.type === 'success')")
    assert [told["authProvisionId"] for told in portal.told("success")] == [portal.product.accounts(portal.user)[0].id]

    frame.get_by_role("link", name="Sandbox Tasks").first.click()
    frame.get_by_role("link", name="Actions").first.click()
    frame.get_by_role("link", name="List projects").click()
    frame.get_by_role("button", name="Run action").click()
    expect(frame.locator("#outcome")).to_contain_text("project")
    assert frame.get_by_role("tab", name="Request").count() == 0
    frame.get_by_role("navigation", name="Main").get_by_role("link", name="Accounts").click()
    portal.heading("Accounts")
    assert axe(portal.page.frames[1]) == []


def test_any_number_with_one_token_and_one_taken_away_again(portal: Portal) -> None:
    portal.open("&app=sandbox")
    connect(portal)
    frame = portal.frame
    frame.get_by_role("link", name="Sandbox Tasks").first.click()
    connect(portal, "Grace Hopper")
    assert len(portal.product.accounts(portal.user)) == 2
    frame.locator("summary[aria-label=More]").click()
    frame.get_by_role("link", name="Disconnect…").click()
    frame.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(frame.locator("#status")).to_contain_text("is disconnected")
    assert len(portal.product.accounts(portal.user)) == 1


def test_a_trigger_watches_for_the_user(portal: Portal) -> None:
    portal.open("&app=schedule")
    frame = portal.frame
    frame.get_by_role("navigation", name="Schedule").get_by_role("link", name="Triggers").click()
    frame.get_by_role("link", name="Custom interval").click()
    frame.get_by_label("Name").fill("Every hour")
    frame.get_by_role("button", name="Start watching").click()
    portal.heading("Every hour")
    main = frame.get_by_role("navigation", name="Main")
    main.get_by_role("link", name="Triggers").click()
    frame.get_by_role("row", name=re.compile("Every hour")).wait_for()
    assert frame.get_by_role("button", name="Reveal key").count() == 0
    main.get_by_role("link", name="Logs").click()
    portal.heading("Logs")
    expect(frame.locator("#results")).to_contain_text("Every hour")


def test_the_product_renews_before_the_end_and_nothing_typed_is_lost(portal: Portal) -> None:
    portal.open("&app=schedule", expires_in=100)
    frame = portal.frame
    frame.get_by_role("navigation", name="Schedule").get_by_role("link", name="Triggers").click()
    frame.get_by_role("link", name="Custom interval").click()
    frame.get_by_label("Name").fill("Still here")
    portal.page.wait_for_function("messages.some(([, message]) => message.type === 'token-needed')")
    before = portal.address
    portal.give(portal.token("somebody-else@example.com"))
    portal.page.wait_for_function("messages.some(([, message]) => message.code === 'token_refused')")
    assert portal.address == before
    portal.give(portal.token())
    expect(frame.locator("#portal")).not_to_have_attribute("data-base", re.search("/portal/[^/]+", before)[0])  # type: ignore[index]
    assert portal.address != before and portal.address.endswith(before.partition("/portal/")[2].partition("/")[2])
    assert frame.get_by_label("Name").input_value() == "Still here"
    frame.get_by_role("button", name="Start watching").click()
    portal.heading("Still here")


def test_without_a_new_token_it_sleeps_and_carries_on(portal: Portal, axe: Any) -> None:
    portal.open("&page=activity", expires_in=1)
    portal.heading("This page was open for a while")
    assert axe(portal.page.frames[1]) == []
    portal.frame.get_by_role("button", name="Carry on").click()
    portal.page.wait_for_function("messages.some(([, message]) => message.type === 'token-needed')")
    portal.give(portal.token())
    portal.heading("Logs")


def test_a_stranger_frames_nothing(page: Any, product: Any, embedder: Any, other_embedder: Any) -> None:
    token = product.token("framed@example.com", allowed_origins=[embedder.origin])
    page.goto(other_embedder.page(f"{product.url}/portal?token={token}"))
    page.frame_locator("iframe").get_by_role("heading", name="Accounts can’t be connected from this site").wait_for()
    page.wait_for_function("messages.some(([, message]) => message.code === 'origin_not_allowed')")
    assert "/portal/" not in page.frames[1].url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(contexts: Any, product: Any, embedder: Any, axe: Any, scheme: Any) -> None:
    page = contexts(viewport={"width": 360, "height": 740}, color_scheme=scheme).new_page()
    portal = Portal(page, product, embedder, f"phone-{scheme}@example.com")
    portal.open("&app=sandbox")
    connect(portal)
    for address in ("accounts", "apps", "triggers", "activity"):
        portal.open(f"&page={address}")
        portal.frame.get_by_role("heading", level=1).wait_for()
        frame = page.frames[1]
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        lefts = "[...document.querySelectorAll('footer > *')].map((part) => part.getBoundingClientRect().left)"
        assert len(set(frame.evaluate(lefts))) == 1, f"the lines of the footer begin together: {address}"
        assert axe(frame) == [], address


def test_embed_js_shows_it_and_gives_the_next_token(page: Any, product: Any, embedder: Any) -> None:
    user = "script@example.com"
    tokens = [product.token(user, allowed_origins=[embedder.origin], expires_in=life) for life in (60, 3600)]
    page.goto(embedder.origin)
    page.add_script_tag(url=f"{product.url}/embed.js")
    with page.expect_response("**/portal/renewal") as renewed:
        page.evaluate(
            """(tokens) => { document.querySelector("iframe").remove();
              Patchbay.portal({tokenCallback: () => tokens.shift(), element: "body", page: "activity"}) }""",
            tokens,
        )
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Logs", level=1).wait_for()
    frame.locator(f"#portal[data-base='{renewed.value.json()['base']}']").wait_for(state="attached")
    frame.get_by_role("navigation", name="Main").get_by_role("link", name="Accounts").click()
    frame.get_by_role("heading", name="Accounts", level=1).wait_for()
    left = int(frame.locator("#portal").get_attribute("data-left"))
    assert left > 3_000_000, "the second token"
