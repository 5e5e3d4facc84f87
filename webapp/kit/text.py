"""Searching in text: what somebody typed is found whatever its letter case and accents."""

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
