"""Pages in every language fit a narrow phone; one that is written from right to left is played by a pseudo-locale."""

import gettext as catalogs
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.person import PASSWORD
from tests.fakes.deployed import plant_trigger_of
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


@pytest.fixture
def hebrew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    real = translation._catalog
    monkeypatch.setitem(translation.LANGUAGES, "he", "עברית")
    monkeypatch.setattr(translation, "_catalog", lambda language: Pseudo() if language == "he" else real(language))
    yield
    translation.speak(translation.DEFAULT)


@pytest.mark.parametrize("tag", ["de", "es", "fr", "ja", "he"])
def test_pages_and_the_link_fit_in_every_language(
    tag: str, hebrew: None, contexts: Callable[..., Any], product: Any, axe: Any
) -> None:
    service = product.service
    email = f"{tag}@example.com"
    person = users.create(service.store, service.clock, email=email, password=PASSWORD, role="owner")
    trigger, _ = plant_trigger_of(service, product.scene, "http-new-requests", user=person.id)
    page = contexts(reduced_motion="reduce", viewport={"width": WIDTH, "height": 740}, locale=tag).new_page()
    page.goto(f"{product.url}/sign-in")
    page.locator("[name=email]").fill(email)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("[name=password]").press("Enter")
    page.wait_for_url("**/apps")
    paths = [
        "/apps", "/apps/sandbox", "/accounts", "/triggers", f"/triggers/{trigger.id}", "/activity", "/settings",
        "/apps/http/actions/http-send-request",
    ]  # fmt: skip
    links = [product.link(email), product.link(email, app="sandbox_keys")]
    for address in (*(f"{product.url}{path}" for path in paths), *links):
        page.goto(address)
        page.locator("h1").wait_for()
        assert page.locator("html").get_attribute("lang") == tag, address
        assert page.locator("html").get_attribute("dir") == ("rtl" if tag == "he" else "ltr"), address
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, address
        assert axe(page) == [], address
