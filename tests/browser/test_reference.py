"""The reference of the API in a browser: readable in either theme, on a phone and on a desk, without a script."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_it_is_readable_at_any_width(
    contexts: Callable[..., Any], axe: Any, product: Any, width: int, scheme: str
) -> None:
    page = contexts(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
    page.goto(f"{product.url}/docs/api")
    assert page.evaluate("document.scripts.length") == 0
    names = page.evaluate(
        "[...document.querySelectorAll('section[aria-labelledby]')]"
        ".map(one => document.getElementById(one.getAttribute('aria-labelledby')).textContent.trim())"
    )
    assert len(names) == len(set(names)), "two landmarks of one name"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    menu = page.locator("nav a[href='#list_accounts']")
    if width < 860:
        assert not menu.is_visible()
        page.locator("summary", has_text="Contents").click()
    menu.click()
    operation = page.locator("#list_accounts")
    is_shown = "(one) => one.matches(':target') && one.getBoundingClientRect().top < innerHeight"
    page.wait_for_function(f"({is_shown})(document.getElementById('list_accounts'))")
    operation.get_by_text("connect:accounts:read").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The page is long and made of the same parts: all of one group, and what stands around the groups.
    page.evaluate(
        "document.querySelectorAll('main > section:nth-of-type(n+9):not(#objects)').forEach(one => one.remove())"
    )
    page.evaluate(  # what is far away has no true place otherwise
        "document.querySelectorAll('.docs-operation').forEach(one => one.style.contentVisibility = 'visible')"
    )
    assert axe(page) == []
