"""Triggers in a real browser on a fresh start: watch "New task", see its event arrive signed, break the receiver."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.fakes.served import Served

pytestmark = pytest.mark.browser

POLL = "2"  # seconds; the least that the installation of these tests allows is 1


def deploy(page: Any, at: Served, name: str, path: str) -> str:
    """Deploy "New task" to a path of the sandbox's receiver; its signing key, as the page shows it once."""
    page.goto(f"{at.url}/apps/sandbox/triggers/sandbox-new-task")
    page.get_by_label("Number").fill(POLL)
    page.get_by_label("Unit").select_option("seconds")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Send events to").fill(f"{at.sandbox_url}/receiver/{path}")
    page.get_by_role("button", name="Start watching", exact=True).click()
    page.wait_for_url("**/triggers/dc_*")
    page.get_by_role("heading", name=name, exact=True, level=1).wait_for()
    return str(page.locator("#new-key code").inner_text())


def create_task(page: Any, at: Served, title: str) -> None:
    """A person adds a task at the third party's own site."""
    page.goto(f"{at.sandbox_url}/tasks")
    page.get_by_label("Project").select_option(index=1)
    page.get_by_role("button", name="Show").click()
    page.get_by_role("textbox", name="Title").fill(title)
    page.wait_for_load_state()
    for field in page.locator("form.fields [required]").all():
        if field.evaluate("one => one.tagName") == "SELECT":
            field.select_option(index=1)
        elif not field.input_value():
            field.fill("7")
    page.get_by_role("button", name="Create task").click()
    page.locator(".list").get_by_text(title, exact=True).first.wait_for()


def receive(page: Any, at: Served, path: str, *, key: str = "", answer: str = "") -> None:
    """Set up a path of the receiver: the key it checks with, or what it answers."""
    page.goto(f"{at.sandbox_url}/receiver")
    page.locator("details").first.evaluate("fold => { fold.open = true; }")
    if key:
        form = page.locator("form", has=page.get_by_role("button", name="Check with this key"))
        form.get_by_label("Path", exact=True).fill(path)
        form.get_by_label("Signing key").fill(key)
        form.get_by_role("button").click()
        page.locator("li", has=page.locator("code", has_text=path)).get_by_text("key set").wait_for()
    if answer:
        form = page.locator("form", has=page.locator("select[name=answer]")).last
        form.get_by_label("Path", exact=True).fill(path)
        form.get_by_label("Answers").select_option(answer)
        form.get_by_role("button").click()
        page.locator("li", has=page.locator("code", has_text=path)).get_by_text(re.compile(f"^{answer} ")).wait_for()


def verdicts(page: Any, at: Served, path: str) -> list[str]:
    """What the receiver says of both signatures of each request to ``path``, newest first."""
    page.goto(f"{at.sandbox_url}/receiver")
    found = page.locator("article.request", has=page.locator("code", has_text=f"/receiver/{path}"))
    return [str(text) for text in found.locator("[data-signature]").all_inner_texts()]


def test_an_event_arrives_signed_and_a_broken_receiver_is_fixed(contexts: Any, started: Served, connected: Any) -> None:
    context = contexts(storage_state=connected)
    page, other = context.new_page(), context.new_page()
    key = deploy(page, started, "Boats", "boats")
    trigger = page.url
    receive(other, started, "boats", key=key)

    create_task(other, started, "Paint the boat")  # the first event shows by itself
    page.locator("summary", has_text="Paint the boat").click()
    payload = page.get_by_role("region", name=re.compile("^Payload evt_"))
    payload.get_by_text("Paint the boat").wait_for()
    assert '"title": "Paint the boat"' in payload.inner_text()
    page.goto(trigger)
    assert key not in page.content(), "shown once"
    page.get_by_role("link", name="Deliveries", exact=True).click()
    row = page.locator("details.log", has_text="Paint the boat")
    row.get_by_text("200", exact=True).wait_for()
    seen = verdicts(other, started, "boats")
    assert len(seen) == 2
    assert all(text.endswith(": valid") for text in seen)

    page.get_by_role("switch", name="Active: Boats").click()
    page.get_by_role("status").get_by_text("is paused; nothing is sent.").wait_for()
    page.locator("#strip").get_by_text("Paused").wait_for()
    page.goto(f"{started.url}/triggers")
    assert page.get_by_role("row", name=re.compile("Boats")).get_by_text("Paused").count() == 1
    page.get_by_role("switch", name="Active: Boats").click()
    page.get_by_role("status").get_by_text("is active again.").wait_for()
    page.get_by_role("row", name=re.compile("Boats")).get_by_text("Active", exact=True).wait_for()

    receive(other, started, "boats", answer="500")
    page.goto(f"{trigger}/deliveries")
    create_task(other, started, "Mend the sail")
    page.get_by_role("link", name=re.compile("^Show 1 new entry")).click()
    row = page.locator("details.log", has_text="Mend the sail")
    row.wait_for()
    # The first retry comes after 5 s, on a busy machine before anybody clicks; the one behind it after 5 minutes.
    later = row.get_by_text(re.compile(r"next in \d+\smin"))  # a no-break space
    for _ in range(30):
        if later.count() == 1:
            break
        page.wait_for_timeout(1000)
        page.reload()
    later.wait_for()
    row.get_by_text("Retrying").wait_for()
    page.locator("#places").get_by_text("The receiver answered 500").wait_for()
    page.locator("#strip").get_by_text("Its address fails").wait_for()
    receive(other, started, "boats", answer="200")
    row.locator("summary").first.click()
    with page.expect_response("**/resend") as answered:
        row.get_by_role("button", name=re.compile("^Retry now")).click()
    assert answered.value.ok
    row.locator("summary").first.get_by_text("200", exact=True).wait_for()  # where it is; the page does not move
    page.locator("#places").get_by_text("Working").wait_for()
    page.locator("#strip").get_by_text("Active", exact=True).wait_for()
    other_row = page.locator("details.log", has_text="Paint the boat")
    other_row.locator("summary").first.click()
    with page.expect_response("**/resend") as answered:
        other_row.get_by_role("button", name=re.compile("^Resend: Paint the boat")).click()
    assert answered.value.ok
    page.goto(f"{started.url}{row.get_attribute('hx-get')}")
    page.get_by_role("region", name=re.compile("^Request")).get_by_text("webhook-signature").wait_for()
    page.locator(".attempts > li").nth(1).wait_for()
    assert key not in page.content()


def test_without_javascript(contexts: Any, started: Served, connected: Any) -> None:
    page = contexts(java_script_enabled=False, storage_state=connected).new_page()
    page.goto(f"{started.url}/apps/http/triggers/http-new-requests")
    page.get_by_label("Name").fill("Requests")
    page.get_by_role("button", name="Start watching", exact=True).click()
    page.get_by_role("heading", name="Requests", level=1).wait_for()
    address = page.locator("#listens-title").locator("xpath=../..").locator("code").inner_text()
    assert "/h/" in address
    page.request.post(address, data='{"from": "a shop"}', headers={"content-type": "application/json"})
    page.get_by_label("Add a webhook URL").fill(f"{started.sandbox_url}/receiver/plain")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("status").get_by_text("Events go to").wait_for()
    page.get_by_role("button", name="Reveal key of").click()
    assert page.locator(".copy code").inner_text().startswith("whsec_")
    page.get_by_role("link", name="Back to the trigger").click()
    page.get_by_role("button", name="Send a test event").click()
    page.get_by_role("status").get_by_text("A test event is on its way to 1 endpoint.").wait_for()
    assert "Test event" in page.locator("details.log summary").all_inner_texts()[0]
    page.get_by_role("switch").click()
    page.get_by_text("Paused.").wait_for()
    page.get_by_role("switch").click()
    page.get_by_role("status").get_by_text("is active again.").wait_for()
    page.get_by_role("link", name="Delete…").click()
    page.get_by_text("stops answering.").wait_for()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("status").get_by_text("“Requests” is deleted.").wait_for()


def test_switch_moves_back_when_the_call_fails(contexts: Any, started: Served, connected: Any) -> None:
    page = contexts(storage_state=connected).new_page()
    deploy(page, started, "Stubborn", "stubborn")
    switch = page.get_by_role("switch", name="Active: Stubborn")
    page.route("**/pause*", lambda route: route.fulfill(status=503, body="<p>The service does not answer.</p>"))
    switch.click()
    page.get_by_role("status").get_by_text("The service does not answer.").wait_for()
    expect(switch).to_have_attribute("aria-checked", "true")


def test_keyboard_is_enough(contexts: Any, started: Served, connected: Any) -> None:
    page = contexts(storage_state=connected).new_page()
    deploy(page, started, "By hand", "by-hand")

    def tab_to(target: Any) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if target.evaluate("one => one === document.activeElement"):
                return
        raise AssertionError("the keyboard does not lead there")

    tab_to(page.get_by_role("switch", name="Active: By hand"))
    page.keyboard.press("Space")
    page.get_by_role("status").get_by_text("“By hand” is paused").wait_for()
    expect(page.get_by_role("switch", name="Active: By hand")).to_be_focused()
    page.keyboard.press("Space")
    page.get_by_role("status").get_by_text("“By hand” is active again.").wait_for()
    tab_to(page.get_by_role("link", name="Deliveries", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url("**/deliveries")
    tab_to(page.get_by_label("Status"))
    page.keyboard.press("F")
    page.wait_for_url("**/deliveries?status=failed")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 360)])
def test_pages_are_accessible(
    contexts: Any, started: Served, connected: Any, axe: Any, scheme: str, width: int
) -> None:
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"}
    page = contexts(storage_state=connected, **options).new_page()
    deploy(page, started, f"Looked at {scheme} {width} {'unbroken' * 8}", "looked-at")
    trigger = page.url
    page.get_by_role("button", name="Send a test event").click()
    page.get_by_role("status").get_by_text("is on its way").wait_for()
    page.get_by_role("button", name="Reveal key of").click()
    page.locator(".places .copy").wait_for()
    edit = page.get_by_role("link", name="Edit").get_attribute("href")
    paths = ["", "/deliveries", "/logs", "/configuration", "/deletion", "/deliveries/resending"]
    own = [f"{started.url}/{path}" for path in ("triggers", "activity", "activity/audit", "settings")]
    for url in [page.url, *(trigger + path for path in paths), *own, started.url + edit]:
        if url != page.url:
            page.goto(url)
        if url.endswith("/settings"):
            page.get_by_role("button", name=re.compile("(Show my|Replace the) key")).click()
            page.get_by_text("It is shown only once.").wait_for()
        page.locator("details:is(.fold, .log)").evaluate_all("all => all.forEach(one => { one.open = true; })")
        page.locator("details.log[open] > .log-body > p.js-only").first.wait_for(state="detached")
        assert axe(page, colours=(scheme, width) == ("dark", 1280)) == [], url
        assert page.evaluate("document.documentElement.scrollWidth") <= width, url
