"""The words that a misspelt one may stand for."""

import pytest

from webapp.kit import misspelling
from webapp.kit.misspelling import similar_words

KNOWN = ["calendar", "google", "goggles", "sheets", "x1234"]


@pytest.mark.parametrize(
    ("word", "similar"),
    [
        ("gogle", ["google", "goggles"]),  # the most similar first
        ("calender", ["calendar"]),
        ("google", ["google", "goggles"]),
        ("weather", []),
        ("x1235", []),  # a number is no misspelt word
        ("", []),
    ],
)
def test_words_that_are_spelt_almost_alike(word: str, similar: list[str]) -> None:
    assert similar_words(word, KNOWN) == similar


def test_a_short_word_is_like_too_many_others() -> None:
    assert similar_words("abc", ["abcd"]) == []
    assert similar_words("abcd", ["abc"]) == ["abc"]


def test_only_some_of_very_many_are_given() -> None:
    known = [f"calendar{letter}" for letter in "abcdefghijklmnop"]
    assert len(similar_words("calendar", known)) == misspelling.MAX_SIMILAR
