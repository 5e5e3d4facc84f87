"""Text: what somebody typed is found whatever its letter case and accents, and a provider is called by its name."""

import functools
import unicodedata


def fold(text: str) -> str:
    """``text`` without case and accents, for sorting and comparing."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def holds(text: str | None, part: str) -> bool:
    """Whether ``part`` stands somewhere in ``text``, whatever the case and accents of the two."""
    return text is not None and _folded(part) in fold(text)


@functools.lru_cache(maxsize=64)  # a search asks every row for the same
def _folded(part: str) -> str:
    return fold(part)


def naming(sentence: str, name: str) -> str:
    """``sentence``, which says "the provider", with the name of who that is: here nobody knows it."""
    return sentence.replace("The provider", name).replace("the provider", name)
