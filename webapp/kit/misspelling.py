"""Known words that a misspelt one may stand for ("gogle" for "google")."""

from collections.abc import Sequence

MIN_LETTERS = 4
"""A shorter word is like too many others."""
MIN_SIMILARITY = 75
"""How alike two words are, in percent, of which one may be the other misspelt."""
MAX_SIMILAR = 8


def similar_words(word: str, known: Sequence[str]) -> list[str]:
    """The words of ``known`` that are spelt almost like ``word``, the most similar first.

    There are at most :data:`MAX_SIMILAR`, and none for a word that is short or has anything but letters.
    """
    if len(word) < MIN_LETTERS or not word.isalpha():
        return []
    from rapidfuzz import fuzz, process

    similar = process.extract(word, known, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=MAX_SIMILAR)
    return [name for name, _score, _place in similar]
