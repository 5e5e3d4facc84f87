"""What the server finds in texts is what :func:`webapp.kit.text.holds` finds."""

import unicodedata

from webapp.kit.text import fold, holds
from webapp.store.postgres.store import PostgresStore

TEXTS = (
    "", "Ada Lovelace", "ÄRZTE", "Ærø", "Straße", "STRASSE", "ẞ", "İstanbul", "ısı", "Σίσυφος ΣΑΣ", "ﬁnance",
    "Å Å A\u030a", "Đà Nẵng", "Łódź", "東京タワー", "パーティー", "한국어", "Ⅷ ㎏ ½", "ǅ ǆ", "ᏣᎳᎩ ꮳꮃꭹ", "🧵 %_\\ '",
    "a\u0301\u0323b", "ﷺ", "ſ ẛ", "ΐ ΰ ᾳ", "ŉ ǰ և", "\u0345", "x\u200dy", "𝔘𝔫𝔦", "Ꙁ ꙁ 𐐀 𐐨",
)  # fmt: skip
PARTS = (
    "",
    "a",
    "A",
    "ss",
    "ß",
    "ar",
    "ÄR",
    "i",
    "İ",
    "σ",
    "Σ",
    "fi",
    "kg",
    "タ",
    "ᄒ",
    "ꮳ",
    "dž",
    "%",
    "\\",
    "u",
    "1",
    "\u0301",
)


def test_texts_that_hold_a_part(postgres: PostgresStore) -> None:
    values = ", ".join(f"(CAST(:t{number} AS TEXT))" for number in range(len(TEXTS)))
    params = {f"t{number}": text for number, text in enumerate(TEXTS)}
    for part in PARTS:
        rows = postgres.tuples(f"SELECT holds(v.column1, :part) FROM (VALUES {values}) AS v", {**params, "part": part})
        assert [bool(row[0]) for row in rows] == [holds(text, part) for text in TEXTS], part


def test_every_letter_is_folded_as_python_does(postgres: PostgresStore) -> None:
    letters = [
        chr(n) for n in (*range(1, 0xD800), *range(0xE000, 0x1F000)) if unicodedata.category(chr(n))[0] in "LMNS"
    ]
    listed = "".join(letters)
    rows = postgres.tuples(
        "SELECT patchbay_fold(letter) FROM unnest(string_to_array(:listed, NULL)) WITH ORDINALITY AS t (letter, n) "
        "ORDER BY n",
        {"listed": listed},
    )
    assert [(a, b) for a, (b,) in zip(letters, rows, strict=True) if fold(a) != b] == []
