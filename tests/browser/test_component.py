"""Components in a real browser on a fresh start: fill "Create task" in, run it, run it again; with no scripts too."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.fakes.served import Served

pytestmark = pytest.mark.browser


def open_action(page: Any, at: Served, name: str) -> None:
    page.goto(f"{at.url}/apps/sandbox")
    page.get_by_role("navigation", name="Sandbox Tasks").get_by_role("link", name=re.compile("^Actions")).click()
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    page.wait_for_load_state()


def start_again(page: Any) -> None:
    """Without a draft that another test left."""
    if page.get_by_role("button", name="Start again").count():
        page.get_by_role("button", name="Start again").click()
        page.get_by_role("status").get_by_text("The draft is deleted, and the form is reset.").wait_for()


def pick_project(page: Any, query: str, *, scripts: bool) -> str:
    """Search among the 200 projects, take the first that is found, and let the fields follow; its name."""
    page.locator("#f-project_id-summary").click()
    if scripts:
        page.locator("#f-project_id-list").get_by_text("First 50 shown. Type to search all of them.").wait_for()
    page.get_by_role("searchbox", name="Search Project").fill(query)
    if not scripts:
        page.get_by_role("button", name="Search", exact=True).click()
    found = page.locator("#f-project_id-list label.check", has_text=re.compile(query, re.IGNORECASE)).first
    found.wait_for()
    name = str(found.inner_text()).strip()
    found.click()
    if not scripts:
        page.get_by_role("button", name="Update fields").click()
    page.get_by_role("status").get_by_text("Fields updated: added").wait_for()
    assert page.locator("[data-picked]").first.inner_text() == name
    return name


def fill_fields(page: Any) -> None:
    """Answer every field that came with the project and has no answer yet."""
    page.locator("details.more-fields").evaluate("fold => { fold.open = true; }")
    for field in page.locator("[id^='f-field_'][id$='-field']").all():
        label = field.locator("label, legend").first.inner_text()
        if "optional" in label:
            continue
        if field.locator("select").count():
            field.locator("select").select_option(index=1)
        elif field.locator("input[type=radio]").count():
            field.locator("input[type=radio]").first.check()
        elif field.locator("input[type=checkbox]").count():
            field.locator("input[type=checkbox]").check()
        elif field.locator("textarea").count():
            field.locator("textarea").fill("Something")
        else:
            field.locator("input[type=text]").fill("7")


def run(page: Any, *, scripts: bool) -> None:
    if not scripts:
        page.get_by_role("checkbox", name=re.compile("^Yes, change data")).check()
    page.get_by_role("button", name="Run action").first.click()
    if scripts:
        dialog = page.get_by_role("dialog", name="Run “Create task”?")
        dialog.get_by_text("It runs as ada@sandbox.example.").wait_for()
        dialog.get_by_role("button", name="Run action").click()


@pytest.mark.parametrize("scripts", [True, False], ids=["javascript", "without"])
def test_create_a_task_and_run_it_again(contexts: Any, started: Served, connected: Any, scripts: bool) -> None:
    page = contexts(java_script_enabled=scripts, storage_state=connected).new_page()
    title = f"Paint the boat {'with' if scripts else 'without'}"
    open_action(page, started, "Create task")
    start_again(page)
    assert "ada@sandbox.example" in page.get_by_label("Account").inner_text()
    project = pick_project(page, "quarry", scripts=scripts)
    page.get_by_label("Title").fill(title)
    fill_fields(page)
    if scripts:
        page.get_by_text("Saved as draft").wait_for()
    run(page, scripts=scripts)
    outcome = page.get_by_role("region", name="Outcome")
    outcome.get_by_text("Succeeded").wait_for()
    assert f"Created task {title} in {project}" in outcome.inner_text()
    assert outcome.locator("dl.facts dd").get_by_text(title, exact=True).count() == 1
    outcome.locator("#result-as-json > summary").click()
    assert f'"title": "{title}"' in page.locator("#result-json").inner_text()

    if not scripts:
        page.goto(page.url.removesuffix("/runs"))
    assert title in page.get_by_label("Title").input_value()  # the draft, as it was
    earlier = page.locator("#history details.log")
    earlier.first.locator("summary").first.click()
    if not scripts:
        earlier.first.get_by_role("link", name="Its own page").click()
    page.get_by_role("link", name="Run again").click()
    page.get_by_role("heading", name="Run “Create task” again?").wait_for()
    assert title in page.get_by_label("Values", exact=True).inner_text()
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("region", name="Outcome").get_by_text("Succeeded").wait_for()
    expect(earlier.filter(has_text=title)).to_have_count(2)


def test_draft_reopens_and_search_keeps_the_focus(contexts: Any, started: Served, connected: Any) -> None:
    page = contexts(storage_state=connected).new_page()
    open_action(page, started, "Show all props")
    start_again(page)
    page.get_by_label("Text", exact=True).fill("Kept as it is")
    page.get_by_text("Saved as draft").wait_for()
    page.reload()
    assert page.get_by_label("Text", exact=True).input_value() == "Kept as it is"
    if not page.locator("#optional-fields[open]").count():
        page.locator("#optional-fields > summary").click()
    page.locator("#f-more").fill("2")
    page.locator("#f-more").blur()
    page.get_by_role("status").get_by_text("added Field 1, Field 2").wait_for()
    assert page.get_by_label("Text", exact=True).input_value() == "Kept as it is"


def test_what_was_typed_meanwhile_is_there_as_soon_as_the_fields_follow(
    contexts: Any, started: Served, connected: Any
) -> None:
    """Another answer that comes next, such as that of the draft, looks at what stands in the form."""
    page, held = contexts(storage_state=connected).new_page(), list[Any]()
    open_action(page, started, "Show all props")
    start_again(page)
    page.route("**/fields", lambda route: held.append(route))
    page.evaluate("""() => document.addEventListener("htmx:before:settle", (event) => {
        if (event.target.id === "fields") setTimeout(() => { window.seen = document.getElementById("f-text").value; });
    })""")
    if not page.locator("#optional-fields[open]").count():
        page.locator("#optional-fields > summary").click()
    with page.expect_request("**/fields"):
        page.locator("#f-more").fill("2")
        page.locator("#f-more").blur()
    page.get_by_label("Text", exact=True).fill("Typed meanwhile")
    held[0].continue_()
    page.wait_for_function("() => window.seen !== undefined")
    assert page.evaluate("window.seen") == "Typed meanwhile"
    page.get_by_role("status").get_by_text("added Field 1, Field 2").wait_for()
    assert page.get_by_label("Text", exact=True).input_value() == "Typed meanwhile"


def test_a_list_in_which_somebody_chooses_while_fields_follow_stays(
    contexts: Any, started: Served, connected: Any
) -> None:
    page, held = contexts(storage_state=connected).new_page(), list[Any]()
    open_action(page, started, "Show all props")
    start_again(page)
    if not page.locator("#optional-fields[open]").count():
        page.locator("#optional-fields > summary").click()
    page.route("**/fields", lambda route: held.append(route))
    with page.expect_request("**/fields"):
        page.locator("#f-more").fill("2")
        page.locator("#f-more").blur()
    many, project = page.locator("#f-number_of_many"), page.locator("#f-project")
    many.locator("summary").first.click()
    many.locator(".options label").nth(2).click()
    chosen = many.locator("[data-picked]").inner_text()
    project.locator("summary").first.click()
    with page.expect_response(lambda answer: "=quarry&" in (answer.request.post_data or "")):
        project.get_by_role("searchbox").fill("quarry")
    held[0].continue_()
    page.get_by_role("status").get_by_text("added Field 1, Field 2").wait_for()
    expect(project.get_by_role("searchbox")).to_have_value("quarry")
    project.get_by_label("Quarry Budget", exact=True).click()
    assert project.locator("[data-picked]").inner_text() == "Quarry Budget"
    assert many.locator("[data-picked]").inner_text() == chosen
    assert many.locator("input:checked").get_attribute("data-label") == chosen


def test_a_list_that_opens_late_does_not_replace_what_was_searched_for(
    contexts: Any, started: Served, connected: Any
) -> None:
    page, held = contexts(storage_state=connected).new_page(), list[Any]()
    open_action(page, started, "Show all props")
    start_again(page)
    if not page.locator("#optional-fields[open]").count():
        page.locator("#optional-fields > summary").click()
    project, options = page.locator("#f-project"), "**/options/project"
    page.route(options, lambda route: route.continue_() if held else held.append(route))
    with page.expect_request(options):
        project.locator("summary").first.click()
    with page.expect_event("requestfailed"):  # the search takes its place
        project.get_by_role("searchbox").fill("quarry")
    project.get_by_label("Quarry Budget", exact=True).wait_for()
    assert all("quarry" in text.lower() for text in project.locator(".options label").all_inner_texts())


def test_sent_twice_runs_once(contexts: Any, started: Served, connected: Any) -> None:
    page = contexts(storage_state=connected).new_page()
    open_action(page, started, "List projects")
    runs: list[str] = []
    page.on("request", lambda request: runs.append(request.url) if request.url.endswith("/runs") else None)
    page.get_by_role("button", name="Run action").dblclick()
    page.get_by_role("region", name="Outcome").get_by_text("Succeeded").wait_for()
    assert len(runs) == 1


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 360)])
def test_pages_are_accessible(
    contexts: Any, started: Served, connected: Any, axe: Any, scheme: str, width: int
) -> None:
    page = contexts(storage_state=connected, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
    for path in ("actions", "actions/sandbox-create-task", "actions/sandbox-show-all-props"):
        page.goto(f"{started.url}/apps/sandbox/{path}")
        page.locator("details:is(.fold, .picker, .log)").evaluate_all("all => all.forEach(one => { one.open = true; })")
        page.locator(".htmx-request").first.wait_for(state="detached")
        assert axe(page, colours=(scheme, width) == ("dark", 1280)) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    edges = [each.bounding_box()["x"] for each in page.locator("#configuration-title, #fields").all()]
    assert len(edges) == 2 and edges[0] == edges[1], "a card's heading and its fields begin at one edge"
