"""Text from elsewhere: what is kept, what is dropped, what is cut."""

import pytest

from webapp.kit.text import one_line


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("  Ada\n\tLovelace\x00 ", "Ada Lovelace"),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("\u2066Ada\u2069\u200f", "Ada"),
        ("Ada\u2028Lovelace\x85King", "Ada Lovelace King"),
        ("\ud800Ada\udfff", "Ada"),
        ("a\u00a0b\u3000c", "a b c"),
        ("<b>Ada</b>", "<b>Ada</b>"),
        ("👩\u200d🔬 和子 أمل", "👩\u200d🔬 和子 أمل"),
        ("\x00\u202e", ""),
        ("x" * 20, "x" * 20),
        ("x" * 21, "x" * 19 + "…"),
        ("x" * 1_000_000, "x" * 19 + "…"),
    ],
)
def test_one_line(given: str, shown: str) -> None:
    assert one_line(given, 20) == shown
