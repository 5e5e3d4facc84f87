"""A page of options is answered with labels or as bare texts, never mixed."""

import pytest

from webapp.service.components.errors import ResultError
from webapp.service.components.options import Option, Options


def test_options_are_all_with_labels_or_all_bare() -> None:
    assert Options([Option("One", 1)], {"next": 2}).to_json("n") == {
        "options": [{"label": "One", "value": 1}], "string_options": None, "context": {"next": 2},
    }  # fmt: skip
    assert Options(["a", "b"]).to_json("n") == {"options": None, "string_options": ["a", "b"], "context": None}
    assert Options([]).to_json("n") == {"options": [], "string_options": None, "context": None}
    with pytest.raises(ResultError, match="The options of n must be all Option or all text"):
        Options([Option("One", 1), "a"]).to_json("n")
