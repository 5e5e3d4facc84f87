"""``holds(text, part)`` as functions of PostgreSQL that say what :func:`webapp.kit.text.holds` says.

What becomes of a character without case and accents is written into the function from Python's own tables, because
``lower()`` depends on the language of the database and knows nothing of "ß".
"""

import unicodedata
from collections.abc import Iterator

_FREQUENT = "\u0590"
"""The alphabets before this are what most texts that are not ASCII have; the rest is looked for only where it is."""

_FOLD = """
CREATE OR REPLACE FUNCTION patchbay_fold(plain TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  folded TEXT;
BEGIN
  IF octet_length(plain) = char_length(plain) THEN
    RETURN lower(plain COLLATE "C");
  END IF;
  folded := translate(normalize(plain, NFKD), {frequent_from}, {frequent_to});
  IF folded ~ {rare_pattern} THEN
    folded := translate(folded, {rare_from}, {rare_to});
  END IF;
  RETURN replace(replace(folded, 'ß', 'ss'), 'ẞ', 'ss');
END $$
"""
_HOLDS = """
CREATE OR REPLACE FUNCTION holds(whole TEXT, part TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT COALESCE(strpos(patchbay_fold(whole), patchbay_fold(part)) > 0, FALSE)
$$
"""


def functions() -> list[str]:
    """The statements that define them."""
    characters = list(_changed())
    frequent = [(char, into) for char, into in characters if char < _FREQUENT]
    rare = [(char, into) for char, into in characters if char >= _FREQUENT]
    fold = _FOLD.format(
        frequent_from=_from(frequent),
        frequent_to=_to(frequent),
        rare_from=_from(rare),
        rare_to=_to(rare),
        rare_pattern=f"'[{_ranges([ord(char) for char, _ in rare])}]'",
    )
    return [fold, _HOLDS]


def _changed() -> Iterator[tuple[str, str]]:
    """Each character that stands in decomposed texts and changes, with what it becomes: one character, or none."""
    for number in (*range(0xD800), *range(0xE000, 0x110000)):
        char = chr(number)
        if unicodedata.normalize("NFKD", char) == char:
            into = "" if unicodedata.combining(char) else char.casefold()
            if into != char and len(into) < 2:
                yield char, into


def _from(characters: list[tuple[str, str]]) -> str:
    """Those that become another first: ``translate`` drops what has no counterpart."""
    return f"'{''.join(char for char, into in sorted(characters, key=_is_dropped))}'"


def _to(characters: list[tuple[str, str]]) -> str:
    return f"'{''.join(into for _, into in sorted(characters, key=_is_dropped))}'"


def _is_dropped(character: tuple[str, str]) -> bool:
    return not character[1]


def _ranges(numbers: list[int]) -> str:
    """``numbers`` as what stands inside of the brackets of a regular expression."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
