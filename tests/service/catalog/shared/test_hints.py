"""Counts, numbers and times, as the components of many apps write and read them."""

import pytest

from webapp.service.catalog.shared.hints import counted, epoch_ms, number
from webapp.service.components.errors import ComponentError


def test_one_is_singular_and_the_rest_is_not() -> None:
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(["a"], "row") == "1 row"


@pytest.mark.parametrize(("text", "value"), [("12", 12), ("-1.5", -1.5), (" 1e3 ", 1000)])
def test_a_number_is_read(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["many", "", "nan", "inf", "1e999", "12,5"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ComponentError, match="is not a number"):
        number(text)


@pytest.mark.parametrize(
    ("time", "ms"), [("2030-01-31T08:00:00Z", 1896076800000), ("2030-01-31T09:00:00.250+01:00", 1896076800250)]
)
def test_times_are_read_as_providers_write_them(time: str, ms: int) -> None:
    assert epoch_ms(time) == ms
