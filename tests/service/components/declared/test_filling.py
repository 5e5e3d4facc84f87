"""JSON whose texts are templates: with what comes to nothing left out, or null."""

from typing import Any

import pytest

from webapp.service.components.declared.filling import fill, shape

SCOPE: dict[str, Any] = {"title": "Tea", "none": None, "blank": "", "list": [], "no": False}


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ({"a": "{title}", "b": "{none}", "c": "{blank}", "d": "{no}", "e": 0}, {"a": "Tea", "d": False, "e": 0}),
        ({"a": {"b": {"c": "{none}"}}, "d": 1}, {"d": 1}),
        ({"a": "", "b": {}, "c": [], "d": None}, {"a": "", "b": {}, "c": [], "d": None}),
        ({"a": "{list}"}, {"a": []}),
        (["{title}", "{none}", "is:{blank}"], ["Tea"]),
        ({"a": ["{none}"]}, None),
        ("{none}", None),
        (3, 3),
    ],
)
def test_what_comes_to_nothing_is_left_out(written: Any, filled: Any) -> None:
    assert fill(written, SCOPE) == filled


def test_a_result_keeps_its_shape() -> None:
    assert shape({"a": "{none}", "b": ["{title}", "{none}"], "c": 1}, SCOPE) == {"a": None, "b": ["Tea", None], "c": 1}
