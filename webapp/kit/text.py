"""Compares texts without regard to case and accents, and inserts a provider's name into sentences."""

import functools
import unicodedata


def fold(text: str) -> str:
    """``text`` in lower case and without accents, for sorting and comparing."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def holds(text: str | None, part: str) -> bool:
    """Whether ``text`` contains ``part``, ignoring case and accents."""
    return text is not None and _folded(part) in fold(text)


@functools.lru_cache(maxsize=64)  # a search folds the same part for every row
def _folded(part: str) -> str:
    return fold(part)


def naming(sentence: str, name: str) -> str:
    """``sentence`` with "the provider" replaced by ``name``."""
    return sentence.replace("The provider", name).replace("the provider", name)
