"""A demo in Chromium: its pages say that it is one, and a link leads somebody without a login to a run."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from tests.fakes.ports import free_port
from tests.fakes.served import Served, served
from webapp.cli.main import main

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A served demo, and a link to create a task in it."""
    data, port = tmp_path_factory.mktemp("demo") / "data", free_port()
    env = {"PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(port), "PATCHBAY_SANDBOX_PORT": str(port + 1)}
    runner = CliRunner(env=env)
    filled = runner.invoke(main, ["demo"], catch_exceptions=False)
    assert filled.exit_code == 0, filled.stderr
    link = runner.invoke(main, ["demo", "--link"], catch_exceptions=False).stdout.split()[-1]
    with served(data, port) as product:
        yield product, link


def test_a_link_leads_from_opening_to_a_run(
    demo: tuple[Served, str], contexts: Callable[..., Any], axe: Callable[..., list[Any]]
) -> None:
    product, link = demo
    page = contexts(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(link)
    assert page.get_by_label("Title").input_value() == "Hang the spring wreath"
    page.get_by_text("Demo data").wait_for()
    page.get_by_label("Title").fill("Written by a visitor")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Run action").click()
    page.locator("#outcome").get_by_text("Created task Written by a visitor").wait_for()
    page.reload()
    assert page.get_by_label("Title").input_value() == "Written by a visitor"
    assert page.context.cookies(product.url) == []
    assert page.context.problems == []
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert axe(page, colours=scheme == "dark") == [], (width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{product.url}/accounts")
    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    page.get_by_text("Demo data").wait_for()
