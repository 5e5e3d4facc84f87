"""Text from elsewhere made fit to be stored and shown: on one line, printable, in bounds. Pages escape it besides."""

import unicodedata

_JOINERS = "\u200c\u200d"  # invisible, but part of words and of emoji


def one_line(text: str, limit: int) -> str:
    """``text`` without control characters, direction overrides and lone surrogates, at most ``limit`` characters.

    What separated words becomes one space; an ellipsis takes the place of what was cut off.
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
