"""Every page that end users meet, in German and one more language: it fits a narrow phone, axe finds nothing in either
theme, and nothing on it is English. A pseudo-locale plays a language that is written from right to left.

In English the other tests look at them. German has the longest words, so it has all pages; the others share them. Build
is English in every language.
"""

import gettext as catalogs
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from tests.browser import english
from tests.browser.language_stage import Stage, staged
from webapp.kit import translation

pytestmark = pytest.mark.browser

WIDTH = 360
SHARES = {
    "de": slice(None),
    "es": slice(0, None, 3),
    "fr": slice(1, None, 3),
    "ja": slice(2, None, 3),
    "he": slice(0, None, 3),
}
HEBREW = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבגדהוזחטיכלמנסעפצקרשתםןףץ")
FILLED = re.compile(r"(%\(\w+\)s|\{\w*\}|<[^>]*>|&\w+;)")


def longer(words: str) -> str:
    return re.sub(r"[א-ת]{4,}", r"\g<0>ךם", words)


class Pseudo(catalogs.NullTranslations):
    """Hebrew letters for Latin ones; what is filled in stays."""

    def gettext(self, message: str) -> str:
        parts = FILLED.split(message)
        return "".join(part if FILLED.fullmatch(part) else longer(part.lower().translate(HEBREW)) for part in parts)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@pytest.fixture
def hebrew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    real = translation._catalog
    monkeypatch.setitem(translation.LANGUAGES, "he", "עברית")
    monkeypatch.setattr(translation, "_catalog", lambda language: Pseudo() if language == "he" else real(language))
    yield
    translation.speak(translation.DEFAULT)


@pytest.fixture(scope="module")
def stage(chromium: Any, product: Any) -> Stage:
    return staged(chromium, product)


class Look(NamedTuple):
    """A page on a phone, and what is wrong with what it shows."""

    page: Any
    tag: str
    axe: Callable[..., list[Any]]

    def at(self, address: str, *, framed: bool = False) -> list[Any]:
        """What is wrong with the page at ``address``, or with the frame on it."""
        self.page.goto(address)
        shown = self.page.frames[1] if framed else self.page
        shown.locator("h1").first.wait_for()
        said = shown.evaluate("[document.documentElement.lang, document.documentElement.dir]")
        wrong = [] if said == [self.tag, "rtl" if self.tag == "he" else "ltr"] else [said]
        if shown.evaluate("document.documentElement.scrollWidth") > WIDTH:
            wrong.append("too wide")
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            wrong += self.axe(shown, colours=scheme == "dark")
        return wrong + (english.left(shown, self.tag) if self.tag != "he" else [])


@pytest.mark.parametrize(("tag", "share"), SHARES.items(), ids=SHARES)
def test_pages_are_whole_in_every_language(
    tag: str, share: slice, hebrew: None, stage: Stage, contexts: Callable[..., Any], axe: Any, embedder: Any
) -> None:
    options = {"reduced_motion": "reduce", "viewport": {"width": WIDTH, "height": 740}, "locale": tag}
    signed_in, stranger = contexts(storage_state=stage.state, **options), contexts(**options)
    look = Look(signed_in.new_page(), tag, axe)
    wrong = {path: look.at(f"{stage.product.url}{path}") for path in stage.paths[share]}
    look = Look(stranger.new_page(), tag, axe)
    wrong |= {address: look.at(address) for address in stage.links()[share]}
    wrong |= {address: look.at(address, framed=True) for address in stage.portals(embedder)[share]}
    assert {address: found for address, found in wrong.items() if found} == {}
