"""The words that the name of an app in an address was made of."""

import pytest

from webapp.kit import slugs


@pytest.mark.parametrize(
    ("slug", "words"), [("kiosk", "Kiosk"), ("google_sheets", "Google Sheets"), ("acme-crm_2", "Acme Crm 2"), ("", "")]
)
def test_words(slug: str, words: str) -> None:
    assert slugs.words(slug) == words
