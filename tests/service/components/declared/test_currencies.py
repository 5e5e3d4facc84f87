"""The decimals of currencies."""

from webapp.service.components.declared.currencies import decimals


def test_most_currencies_have_two_decimals_and_some_none_or_three() -> None:
    assert [decimals(currency) for currency in ("eur", "jpy", "kwd", "")] == [2, 0, 3, 2]
