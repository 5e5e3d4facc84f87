"""Another language for tests: message files in a folder of their own, and spoken until the test is over."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from webapp.kit import translation

Plurals = tuple[str, ...]
Words = Mapping[str, str] | Mapping[tuple[str, str], Plurals] | Mapping[str | tuple[str, str], str | Plurals]


def teach(patch: pytest.MonkeyPatch, folder: Path, tag: str, words: Words) -> None:
    """Offer the language ``tag`` with ``words``: by message, or by a message and its plural."""
    catalog = Catalog(locale=tag.replace("-", "_"))
    for message, said in words.items():
        catalog.add(message, said)
    place = folder / tag.replace("-", "_")
    place.mkdir(parents=True)
    with (place / "pages.po").open("wb") as file:
        write_po(file, catalog)
    patch.setattr(translation, "_FOLDER", folder)
    patch.setitem(translation.LANGUAGES, tag, tag)
    translation._catalog.cache_clear()
