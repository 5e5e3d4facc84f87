"""What somebody typed is found whatever its letter case and accents."""

import pytest

from webapp.kit.text import fold, holds, naming


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
