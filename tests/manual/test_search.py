"""Searching the manual: every word must occur, headings come first, and what is found is cut into plain pieces."""

import pytest

from webapp.manual.markdown import render
from webapp.manual.pages import Manual, Page
from webapp.manual.search import MOST, headings, search
from webapp.settings import Settings

PAGES = [
    Page(
        "one",
        render("# One\n\nAbout keys.\n\n## Signing keys\n\nA webhook has one.\n\n## Data\n\nA key of data.\n", {}),
    ),
    Page("two", render("# Two\n\nNothing here about it, but a signing of the key.\n", {})),
]


def found(query: str) -> list[str]:
    return [hit.url for hit in search(PAGES, query)]


def test_every_word_must_occur_in_either_case() -> None:
    assert found("SIGNING key") == ["/docs/one#signing-keys", "/docs/two#two"]
    assert found("signing nothing-like-it") == []


@pytest.mark.parametrize("query", ["", "   ", "\t"])
def test_nothing_is_found_without_a_word(query: str) -> None:
    assert search(PAGES, query) == []


def test_matches_are_told_from_what_stands_around_them() -> None:
    (hit, *_) = search(PAGES, "signing")
    assert hit.heading == (("", False), ("Signing", True), (" keys", False))
    assert "".join(piece for piece, _ in hit.excerpt) == "A webhook has one."


def test_a_long_text_is_cut_around_the_first_match() -> None:
    page = Page("long", render(f"# Long\n\n{'word ' * 200}needle {'word ' * 200}\n", {}))
    (hit,) = search([page], "needle")
    text = "".join(piece for piece, _ in hit.excerpt)
    assert text.startswith("… word") and text.endswith(" …") and "needle" in text and len(text) < 400


@pytest.mark.parametrize("query", ["(", "[a-", "\\", "a{1000}", ".*", "(a+)+$" * 20])
def test_a_query_is_words_and_never_a_pattern(query: str) -> None:
    assert isinstance(search(PAGES, query), list)


def test_the_manual_answers_what_people_ask(settings: Settings) -> None:
    manual = Manual(settings)
    for query, url in (
        ("retries", "/docs/contract#retries"),
        ("x-pd-signature", "/docs/contract#signatures"),
        ("PATCHBAY_EVENT_DAYS", "/docs/operate#settings"),
        ("reconnect", "/docs/embed#reconnect"),
    ):
        assert url in [hit.url for hit in search(manual, query)][:3], query
    assert len(search(manual, "a")) == MOST


def test_headings_alone_are_found_with_the_title_of_their_page() -> None:
    assert headings(PAGES, "signing") == [("One", "Signing keys", "/docs/one#signing-keys")]
    assert headings(PAGES, "KEYS one") == [("One", "Signing keys", "/docs/one#signing-keys")]
    assert headings(PAGES, "webhook") == [] and headings(PAGES, " ") == []
