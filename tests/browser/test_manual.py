"""The manual in a browser: readable in either theme, on a phone and on a desk, without a script."""

from collections.abc import Callable
from typing import Any

import pytest

from webapp.manual.pages import NAMES

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_every_page_is_readable_at_any_width(
    contexts: Callable[..., Any], axe: Any, product: Any, width: int, scheme: str
) -> None:
    page = contexts(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
    for path in ("", "/search?q=key", *(f"/{name}" for name in NAMES)):
        page.goto(f"{product.url}/docs{path}")
        assert page.evaluate("document.scripts.length") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert axe(page) == [], path


@pytest.mark.parametrize("width", [360, 1280])
def test_a_way_through_it_without_scripts(contexts: Callable[..., Any], product: Any, width: int) -> None:
    page = contexts(viewport={"width": width, "height": 800}, java_script_enabled=False).new_page()
    page.goto(f"{product.url}/docs")
    page.get_by_role("main").get_by_role("link", name="Contract").click()
    contents = page.get_by_role("navigation", name="On this page")
    if width < 860:
        contents.get_by_text("On this page").click()
    contents.get_by_role("link", name="Retries").click()
    page.wait_for_url("**/docs/contract#retries")
    page.get_by_role("searchbox").fill("check a signature")
    page.get_by_role("searchbox").press("Enter")
    page.get_by_role("main").get_by_role("link", name="Check a signature").click()
    page.wait_for_url("**/docs/embed#check-a-signature")
    page.get_by_text("is_genuine").wait_for()
