"""What filters of lists make of values that are none."""

import pytest

from webapp.service.components.declared import lists


@pytest.mark.parametrize(
    ("value", "items"), [({"a": 1, "b": 2}, [1, 2]), ((1, 2), [1, 2]), ("text", ["text"]), ([], []), (7, [7])]
)
def test_anything_is_a_list(value: object, items: list[object]) -> None:
    assert lists.items_of(value) == items


def test_pairs_need_a_second_half() -> None:
    with pytest.raises(ValueError, match="shorter"):
        lists.exchange(["a"], "a")
