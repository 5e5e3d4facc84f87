"""Pages in a language that is written from right to left, played by a pseudo-locale whose words are a third longer."""

import gettext as catalogs
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.person import PASSWORD
from webapp.kit import translation
from webapp.people import users

pytestmark = pytest.mark.browser

WIDTH = 360
HEBREW = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתםןףץ")
FILLED = re.compile(r"(%\(\w+\)s|\{\w*\}|<[^>]*>|&\w+;)")


class Pseudo(catalogs.NullTranslations):
    """Hebrew letters for Latin ones; what is filled in stays."""

    def gettext(self, message: str) -> str:
        parts = FILLED.split(message)
        words = "".join(part if FILLED.fullmatch(part) else part.lower().translate(HEBREW) for part in parts)
        return words + " ךם" * (len(message) // 9)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@pytest.fixture(autouse=True)
def hebrew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(translation.LANGUAGES, "he", "עברית")
    monkeypatch.setattr(translation, "_catalog", lambda language: Pseudo())
    yield
    translation.speak(translation.DEFAULT)


def test_pages_and_the_link_are_whole_from_right_to_left(contexts: Callable[..., Any], product: Any, axe: Any) -> None:
    service = product.service
    users.create(service.store, service.clock, email="noa@example.com", password=PASSWORD, role="owner")
    page = contexts(reduced_motion="reduce", viewport={"width": WIDTH, "height": 740}, locale="he").new_page()
    page.goto(f"{product.url}/sign-in")
    page.locator("[name=email]").fill("noa@example.com")
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("[name=password]").press("Enter")
    page.wait_for_url("**/apps")
    addresses = [f"{product.url}{path}" for path in ("/apps", "/apps/sandbox", "/accounts", "/triggers", "/settings")]
    component = f"{product.url}/apps/http/actions/http-send-request"
    for address in (*addresses, component, product.link(), product.link(app="sandbox_keys")):
        page.goto(address)
        page.locator("h1").wait_for()
        assert page.locator("html").get_attribute("dir") == "rtl", address
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, address
        assert axe(page) == [], address
