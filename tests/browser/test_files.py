"""Files and results in a real browser: files chosen, dropped, refused and cancelled, also by the keyboard only; what a
run gave as a table; and typing that outlives its session.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.person import PASSWORD
from tests.fakes.served import Served, served

pytestmark = pytest.mark.browser

COMPONENT = """
from webapp.service.components.authoring import *


class ReadFile(Action):
    name = "Read file"
    description = "Gives the lines of a file back, or its size, and a copy of it."
    annotations = dict(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)
    stash = "optional"
    account = app("sandbox")
    file = string(label="File", format="file-ref", description="Any file.")
    more = string_list(label="More files", format="file-ref", optional=True)
    note = string(label="Note", optional=True)

    def run(self, ctx):
        place = ctx.files.path(ctx.props.file.rpartition("/")[2])
        content = place.read_bytes()
        ctx.files.write("copy of " + place.name, content)
        if len(content) > 100_000:
            return {"name": place.name, "size": len(content)}
        return [
            {"line": number, "text": text, "length": len(text), "more": {"page": f"https://example.com/{number}"}}
            for number, text in enumerate(content.decode().splitlines(), 1)
        ]
"""
MIB = 1024 * 1024
PATH = "/apps/sandbox/actions/~/read-file"
TEXT = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"=1+1\n<b>two</b>\nthree"}


def sized(mebibytes: int) -> dict[str, Any]:
    return {"name": f"big {mebibytes}.bin", "mimeType": "x/y", "buffer": bytes(mebibytes * MIB)}


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Served]:
    data: Path = tmp_path_factory.mktemp("started") / "data"
    file = data / "components" / "read-file" / "1.0.0.py"
    file.parent.mkdir(parents=True)
    file.write_text(COMPONENT, "utf-8")
    with served(data) as found:
        yield found


def opened(contexts: Any, started: Served, connected: Any, **options: Any) -> Any:
    """The page of the action, as if nobody had been there."""
    page = contexts(storage_state=connected, **options).new_page()
    page.goto(started.url + PATH)
    if page.get_by_role("button", name="Start again").count():
        page.get_by_role("button", name="Start again").click()
        page.get_by_role("status").get_by_text("The draft is deleted, and the form is reset.").wait_for()
    return page


def ran(page: Any) -> Any:
    """Run the action, and give its outcome, which takes the place of an earlier run's."""
    page.locator("#result").evaluate("(shown) => shown.dataset.earlier = ''")
    page.get_by_role("button", name="Run action").click()
    page.locator("#result:not([data-earlier])").get_by_text("Succeeded").wait_for()
    return page.get_by_role("region", name="Outcome")


def drop(page: Any, script: str) -> None:
    """Let go of something above the first picker; ``script`` makes the items of the drag."""
    page.evaluate(
        """(items) => {
            const event = new Event("drop", { bubbles: true, cancelable: true });
            const made = new Function(`return ${items}`)();
            Object.defineProperty(event, "dataTransfer", { value: { types: ["Files"], items: made } });
            document.querySelector("[data-drops]").dispatchEvent(event);
        }""",
        script,
    )


@pytest.mark.parametrize("scripts", [True, False], ids=["javascript", "without"])
def test_nine_mebibytes_are_given_to_a_run(contexts: Any, started: Served, connected: Any, scripts: bool) -> None:
    page = opened(contexts, started, connected, java_script_enabled=scripts)
    page.locator("#f-file").set_input_files(sized(9))
    if scripts:
        page.get_by_text("big 9.bin · 9.0 MiB").wait_for()
    outcome = ran(page)
    assert str(9 * MIB) in outcome.locator("dl.facts").inner_text()
    with page.expect_download() as saved:
        outcome.get_by_role("link", name="copy of big 9.bin").click()
    assert Path(saved.value.path()).stat().st_size == 9 * MIB
    page.goto(started.url + PATH)
    assert page.get_by_text("big 9.bin · 9.0 MiB").count() == 1, "it is part of the draft"
    with page.expect_download():
        page.get_by_role("link", name="copy of big 9.bin").click()


def test_what_cannot_be_taken_is_said_and_leaves_nothing(contexts: Any, started: Served, connected: Any) -> None:
    page = opened(contexts, started, connected)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/files/" in request.url else None)
    choose, said = page.locator("#f-file"), page.locator(".file-problem")
    for file, sentence in (
        (sized(11), "“big 11.bin” is larger than 10 MiB. Choose a smaller file."),
        ({**TEXT, "buffer": b""}, "“notes.txt” is empty."),
    ):
        choose.set_input_files(file)
        said.get_by_text(sentence).wait_for()
    drop(page, '[{kind: "file", webkitGetAsEntry: () => ({isDirectory: true, name: "photos"})}]')
    said.get_by_text("“photos” is a folder. Choose the files in it instead.").wait_for()
    assert sent == [] and page.locator("#f-file-files li").count() == 0
    page.route("**/files/file", lambda route: None)  # never answered
    choose.set_input_files(TEXT)
    page.get_by_role("progressbar", name="Uploading notes.txt").wait_for()
    page.get_by_role("button", name="Cancel: notes.txt").click()
    page.get_by_role("status").get_by_text("The upload of notes.txt was cancelled.").wait_for()
    expect(page.locator("#f-file-files li")).to_have_count(0)
    page.unroute("**/files/file")
    drop(page, '[{kind: "file", getAsFile: () => new File(["dropped"], "dropped.txt")}]')
    page.get_by_text("dropped.txt · 7 B").wait_for()
    page.get_by_role("button", name="Remove dropped.txt").click()
    expect(page.get_by_text("dropped.txt")).to_have_count(0)
    page.locator("#optional-summary").click()
    page.locator("#f-more").set_input_files([TEXT, {**TEXT, "name": "second.txt"}])
    page.locator("#f-more-files li").nth(1).wait_for()


def test_fields_that_come_late_keep_what_was_done_to_files_meanwhile(
    contexts: Any, started: Served, connected: Any
) -> None:
    page = opened(contexts, started, connected)
    page.locator("#optional-summary").click()
    page.locator("#f-more").set_input_files([TEXT, {**TEXT, "name": "second.txt"}])
    page.locator("#f-more-files li").nth(1).wait_for()
    page.get_by_text("Saved as draft").wait_for()
    held: list[Any] = []
    page.route("**/fields", lambda route: held.append(route))
    with page.expect_request("**/fields"):
        page.locator("#f-account").dispatch_event("change")
    page.get_by_role("button", name="Remove second.txt").click()
    page.locator("#f-more").set_input_files({**TEXT, "name": "third.txt"})
    page.get_by_text("third.txt · ").wait_for()
    page.route("**/files/more", lambda route: None)  # never answered
    page.locator("#f-more").set_input_files({**TEXT, "name": "fourth.txt"})
    page.get_by_role("progressbar", name="Uploading fourth.txt").wait_for()
    page.locator("#f-account-field").evaluate("(drawn) => drawn.dataset.earlier = ''")
    held[0].continue_()
    page.locator("#f-account-field:not([data-earlier])").wait_for()
    expect(page.locator("#f-more-files li")).to_contain_text(["notes.txt", "third.txt", "fourth.txt"])
    page.get_by_role("button", name="Cancel: fourth.txt").click()
    expect(page.locator("#f-more-files li")).to_contain_text(["notes.txt", "third.txt"])


def test_eleven_mebibytes_without_javascript(contexts: Any, started: Served, connected: Any) -> None:
    page = opened(contexts, started, connected, java_script_enabled=False)
    page.locator("#f-file").set_input_files(sized(11))
    page.get_by_role("button", name="Run action").click()
    page.get_by_text("You can send at most 10 MiB. Send less.").wait_for()


def test_from_apps_to_a_result_with_a_file_by_the_keyboard(
    contexts: Any, started: Served, connected: Any, tmp_path: Path
) -> None:
    opened(contexts, started, connected)
    page = contexts(storage_state=connected).new_page()
    page.on("filechooser", lambda _: None)  # Chromium is asked to catch choosers now; a later one may come before that
    page.goto(f"{started.url}/apps")
    press, focused = page.keyboard.press, "document.activeElement.innerText || document.activeElement.id"
    page.wait_for_load_state("networkidle")
    press("/")
    page.locator("#q:focus").wait_for()
    page.keyboard.type("read file", delay=50)
    page.get_by_role("heading", name="Actions and triggers").wait_for()
    for _ in range(60):
        if page.evaluate(focused) == "Read file":
            break
        press("Tab")
    press("Enter")
    page.get_by_role("heading", name="Read file", level=1).wait_for()
    page.wait_for_load_state("networkidle")  # fields that follow replace the form
    stops = 0
    while page.evaluate(focused) != "f-file":
        press("Tab")
        stops += 1
        assert stops < 60
    file = tmp_path / "typed.txt"
    file.write_text("one\ntwo")
    with page.expect_file_chooser() as chooser:
        press("Space")
    chooser.value.set_files(file)
    page.get_by_text("typed.txt · 7 B").wait_for()
    press("Control+Enter")
    page.get_by_role("link", name="Download copy of typed.txt").wait_for()
    page.locator("#run-button:focus").wait_for()
    for _ in range(20):
        press("Tab")
        if "copy of typed.txt" in str(page.evaluate(focused)):
            break
    with page.expect_download() as saved:
        press("Enter")
    assert Path(saved.value.path()).read_text() == "one\ntwo"


def test_a_link_leads_from_the_first_field_to_the_button(contexts: Any, started: Served, connected: Any) -> None:
    page = opened(contexts, started, connected)
    page.locator("#f-account").focus()
    page.keyboard.press("Shift+Tab")
    page.get_by_role("link", name="Skip to “Run action”").wait_for()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "run-button"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 360)])
def test_a_result_is_a_table(contexts: Any, started: Served, connected: Any, axe: Any, scheme: str, width: int) -> None:
    size = {"width": width, "height": 900}
    page = opened(contexts, started, connected, color_scheme=scheme, viewport=size)
    page.locator("#f-file").set_input_files(TEXT)
    page.get_by_text("notes.txt · ").wait_for()
    outcome = ran(page)
    table = outcome.get_by_role("table")
    assert table.get_by_role("row").nth(2).get_by_role("cell").nth(1).inner_text() == "<b>two</b>"
    link = table.get_by_role("link").first
    assert link.inner_text() == "example.com/1" and "noopener" in link.get_attribute("rel")
    assert axe(page, colours=(scheme, width) == ("dark", 1280)) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outcome.locator("details.columns > summary").click()
    for name in ("line", "length", "more.page"):
        outcome.get_by_role("checkbox", name=name).set_checked(False)
    outcome.get_by_role("checkbox", name="text").set_checked(True)
    outcome.get_by_role("button", name="Show these").click()
    outcome.get_by_text("Columns: 1 of 4").wait_for()
    assert table.get_by_role("columnheader").all_inner_texts() == ["text"]
    with page.expect_download() as saved:
        outcome.get_by_role("link", name="CSV").click()
    assert Path(saved.value.path()).read_text("utf-8-sig").splitlines()[1] == "1,'=1+1,4,https://example.com/1"
    outcome.get_by_text("JSON", exact=True).last.click()
    assert '"=1+1"' in outcome.locator("#result-json").inner_text()
    page.reload()
    assert page.get_by_role("table").get_by_role("columnheader").all_inner_texts() == ["text"], "remembered"
    page.locator("details.columns > summary").click()
    for name in ("line", "length", "more.page"):
        page.get_by_role("checkbox", name=name).set_checked(True)
    page.get_by_role("button", name="Show these").click()
    page.get_by_text("Columns: 4 of 4").wait_for()


def test_typing_outlives_the_session(contexts: Any, started: Served, connected: Any) -> None:
    page = opened(contexts, started, connected)
    page.locator("#optional-summary").click()
    note = page.locator("#f-note")
    note.fill("Saved")
    page.get_by_text("Saved as draft").wait_for()
    cookies = [cookie for cookie in page.context.cookies() if "session" not in cookie["name"]]
    page.context.clear_cookies()
    page.context.add_cookies(cookies)
    note.press_sequentially(" and typed when the session was over")
    page.wait_for_url("**/sign-in**")
    page.get_by_label("E-mail", exact=True).fill("ada@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    with page.expect_response("**/read-file/draft"):
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/read-file")
        page.get_by_role("status").get_by_text("What you typed before you were signed out is filled in").wait_for()
        assert page.locator("#f-note").input_value() == "Saved and typed when the session was over"
    page.reload()
    assert page.locator("#f-note").input_value() == "Saved and typed when the session was over", "kept as the draft"


def test_typing_is_kept_when_the_page_is_left_at_once(contexts: Any, started: Served, connected: Any) -> None:
    page = opened(contexts, started, connected)
    page.locator("#optional-summary").click()
    page.locator("#f-note").fill("Left at once")
    page.goto(f"{started.url}/apps")
    for _ in range(20):  # what is sent on leaving may arrive later than the next page
        page.evaluate("sessionStorage.clear()")
        page.goto(started.url + PATH)
        if page.locator("#f-note").input_value():
            break
        page.wait_for_timeout(500)
    assert page.locator("#f-note").input_value() == "Left at once"
