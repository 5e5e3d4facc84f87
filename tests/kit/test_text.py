"""What somebody typed is found whatever its letter case and accents; texts of others are cleaned for one line."""

import pytest

from webapp.kit.text import fold, heading, holds, naming, one_line


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Ärzte Nord", "ärzte"),
        ("ärzte", "ÄRZTE"),
        ("A\u0308rzte", "\u00e4rzte"),  # composed and decomposed
        ("Ärzte", "arzt"),
        ("Straße", "STRASSE"),
        ("100% of_all", "% OF_"),  # no wildcards
        ("ПРОЕКТ", "проект"),
        ("x", ""),
    ],
)
def test_case_and_accents_do_not_matter(text: str, part: str) -> None:
    assert holds(text, part)


@pytest.mark.parametrize(("text", "part"), [("Ärzte", "ö"), ("ab", "a%"), (None, "a"), ("", "a")])
def test_what_is_not_there_is_not_found(text: str | None, part: str) -> None:
    assert not holds(text, part)


def test_plain_text_folds_like_any_other() -> None:
    assert fold("GitHub É") == fold("github e") == "github e"


def test_a_provider_is_called_by_its_name() -> None:
    assert naming("The provider is down.", "Acme") == "Acme is down."
    assert naming("Access was denied at the provider.", "Acme") == "Access was denied at Acme."
    assert naming("Wait a minute.", "Acme") == "Wait a minute."


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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("code-scanning", "Code scanning"),
        ("audit_log", "Audit log"),
        ("Sub-accounts and keys", "Sub-accounts and keys"),
        ("ärzte", "Ärzte"),
        ("-", "-"),
        ("", ""),
    ],
)
def test_a_name_is_a_heading(name: str, shown: str) -> None:
    assert heading(name) == shown
