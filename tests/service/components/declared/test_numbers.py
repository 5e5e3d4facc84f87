"""Numbers as apps and people write them."""

import pytest

from webapp.service.components.declared.numbers import number, plus


def test_text_becomes_a_number_where_it_is_one() -> None:
    assert [number(value) for value in ("3", "3.5", 4, "many", "inf", None)] == [3, 3.5, 4, "many", "inf", None]


def test_only_numbers_are_put_together() -> None:
    assert (plus("3", 1), plus(2, 0.5)) == (4, 2.5)
    with pytest.raises(TypeError):
        plus("many", "more")
