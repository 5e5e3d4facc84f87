"""Translations in the packages that an operator added."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.kit import translation
from webapp.kit.package_translations import PackageTranslations


@pytest.fixture
def words(tmp_path: Path) -> Iterator[PackageTranslations]:
    """German for an action, and files that hold none."""
    folder = tmp_path / "acme" / "languages"
    folder.mkdir(parents=True)
    (folder / "acme.de.json").write_text('{"Add a rocket": "Rakete hinzufügen", "Odd": 5, "Save": "Aufheben"}')
    (folder / "broken.de.json").write_text("{")
    (folder / "list.de.json").write_text("[]")
    yield PackageTranslations(tmp_path)
    translation._packages.clear()
    translation.speak(translation.DEFAULT)


def test_they_are_found_by_their_english_and_language(words: PackageTranslations) -> None:
    assert words.in_language("de", "Add a rocket") == "Rakete hinzufügen"
    assert words.in_language("fr", "Add a rocket") is None
    assert words.in_language("de", "Odd") is None


def test_they_are_read_again_once_something_was_added(words: PackageTranslations, tmp_path: Path) -> None:
    assert words.in_language("de", "Launch") is None
    (tmp_path / "acme" / "languages" / "acme.de.json").write_text('{"Launch": "Starten"}')
    assert words.in_language("de", "Launch") is None
    words.forget()
    assert words.in_language("de", "Launch") == "Starten"


def test_pages_say_them_where_nothing_of_ours_translates(words: PackageTranslations) -> None:
    translation.use(words)
    translation.speak("de")
    assert translation.translated("Add a rocket") == "Rakete hinzufügen"
    assert translation.translated("Save") == "Speichern"
    translation.speak("en")
    assert translation.translated("Add a rocket") == "Add a rocket"


def test_what_we_say_behind_them_is_translated_too(words: PackageTranslations, tmp_path: Path) -> None:
    pairs = '{"Burn it.": "Verbrenne es.", "Burn it. Twice.": "Verbrenne es zweimal.", "Name": "Bezeichnung"}'
    (tmp_path / "acme" / "languages" / "acme.de.json").write_text(pairs)
    translation.use(words)
    translation.speak("de")
    assert translation.translated("Burn it. A number, such as 12.5.") == "Verbrenne es. Eine Zahl wie 12.5."
    assert translation.translated("Burn it. Twice. A number, such as 12.5.").startswith("Verbrenne es zweimal. Eine")
    assert translation.translated("Burn it.\n\nNo word of it.") == "Verbrenne es.\n\nNo word of it."
    assert translation.translated("Nobody knows. A number, such as 12.5.") == "Nobody knows. Eine Zahl wie 12.5."
