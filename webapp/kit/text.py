"""Compares texts without regard to case and accents, cleans texts of others so that they can be stored and shown, and
inserts a provider's name into sentences.
"""

import functools
import unicodedata

_JOINERS = "\u200c\u200d"  # invisible, but part of words and of emoji


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


def heading(name: str) -> str:
    """``name`` as a heading: "code-scanning" is "Code scanning", and what has spaces stays but for its first letter."""
    words = name if " " in name else name.replace("-", " ").replace("_", " ").strip() or name
    return words[:1].upper() + words[1:]


def one_line(text: str, limit: int) -> str:
    """``text`` without control characters, direction overrides and lone surrogates, at most ``limit`` characters.

    White space becomes one space; an ellipsis replaces what was cut off.
    """
    head = text[: limit * 8]  # of a megabyte, only the beginning is worth looking at
    kept = "".join(_shown(character) for character in head)
    line = " ".join(kept.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp", "Zs"):
        return " "
    return "" if category[0] == "C" and character not in _JOINERS else character
