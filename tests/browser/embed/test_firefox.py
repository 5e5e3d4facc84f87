"""embed.js in Firefox, third-party cookies being blocked: each mode connects, and a missing origin is named."""

import shutil
from collections.abc import Iterator

import pytest

from tests.browser.conftest import need
from tests.browser.embed import firefox as browser
from tests.browser.embed.firefox import Context, Firefox
from tests.browser.embed.test_embed import READ, Site, site

pytestmark = pytest.mark.browser
__all__ = ["site"]  # a fixture
GO = "a.btn.primary.wide"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """The machine's Firefox."""
    need(shutil.which(browser.COMMAND) is not None, f"there is no {browser.COMMAND}")
    with browser.running(tmp_path_factory.mktemp("firefox")) as started:
        yield started


@pytest.fixture
def tab(firefox: Firefox) -> Context:
    return firefox.tab()


def allow(window: Context) -> None:
    """Decide on the sandbox's consent page."""
    window.wait_for("location.pathname === '/oauth/authorize'")
    window.click("button[value=allow]")


def account(page: Context, site: Site) -> str:
    """The account that the page was told of, read by it through the API."""
    outcome = page.wait_for("outcome || (back?.id && back)")
    answer = page.value(f"({READ})({[site.product.url, site.tokens[0], outcome['id']]})")
    assert answer == [200, outcome["id"]]
    return str(outcome["id"])


@pytest.mark.parametrize("width", [1280, 360])
def test_in_a_frame(firefox: Firefox, tab: Context, site: Site, width: int) -> None:
    tab.resize(width, 800)
    site.page(tab, f"ff-frame-{width}@example.com")
    tab.click("#go")
    frame = tab.frame()
    frame.wait_for("document.documentElement.classList.contains('ready')")
    assert frame.value("document.documentElement.scrollWidth <= innerWidth")
    with firefox.expect_window() as opened:
        frame.click(GO)
    allow(opened[0])
    assert account(tab, site)
    assert tab.value("document.querySelectorAll('iframe, dialog').length") == 0


def test_in_a_window(firefox: Firefox, tab: Context, site: Site) -> None:
    site.page(tab, "ff-window@example.com", mode="popup")
    with firefox.expect_window() as opened:
        tab.click("#go")
    opened[0].wait_for("location.pathname.startsWith('/_static/connect/')")
    opened[0].click(GO)
    allow(opened[0])
    assert account(tab, site)
    browser.eventually(lambda: opened[0].name not in firefox.contexts(), "the window to close")


def test_in_the_same_tab(tab: Context, site: Site) -> None:
    site.page(tab, "ff-redirect@example.com", mode="redirect")
    tab.click("#go")
    tab.wait_for("location.pathname.startsWith('/_static/connect/')")
    tab.click(GO)
    allow(tab)
    tab.wait_for("location.pathname === '/settings'")
    assert account(tab, site)
    assert "account_id" not in tab.value("location.href")


@pytest.mark.parametrize("mode", ["iframe", "popup"])
def test_an_origin_that_is_missing_is_named(tab: Context, site: Site, mode: str) -> None:
    site.page(tab, "ff-refused@example.com", mode=mode, allowed=False)
    tab.click("#go")
    outcome = tab.wait_for("outcome")
    assert outcome["code"] == "origin_not_allowed" and site.origin in outcome["message"]
    assert tab.value("document.querySelectorAll('iframe').length") == 0


def test_a_page_that_isolates_itself_asks_how_it_went(firefox: Firefox, tab: Context, site: Site) -> None:
    site.host.headers = [("Cross-Origin-Opener-Policy", "same-origin")]
    site.page(tab, "ff-isolated@example.com", mode="popup")
    before = set(firefox.contexts())
    tab.click("#go")
    look = "location.pathname.startsWith('/_static/connect/')"

    def link() -> Context | None:
        """The window; its name changes where it is cut off from the page."""
        windows = [Context(firefox, name) for name in set(firefox.contexts()) - before]
        return next((window for window in windows if window.value(look)), None)

    browser.eventually(link, "the Link").click(GO)
    allow(Context(firefox, (set(firefox.contexts()) - before).pop()))
    assert account(tab, site)
