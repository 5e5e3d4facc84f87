"""Options of a piece as those of the wire, and back."""

from typing import Any

import pytest

from webapp.service.components.calls import Call
from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces import choices

CALL = Call(path="x.json", method="options", prop="list")
OFFER = {"options": [{"label": "Home", "value": "h1"}, {"label": "", "value": 7}, {"label": "None", "value": None}]}


@pytest.mark.parametrize("value", ["text", "json:{}", "", 7, 1.5, True, {"id": 1}, [1, "a"]])
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    encoded = choices.encoded(value)
    assert isinstance(encoded, str)
    assert choices.decoded(encoded) == value


def test_what_is_no_encoding_is_itself() -> None:
    assert (choices.decoded("json:{"), choices.decoded(5)) == ("json:{", 5)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"], "string"),
        ([1, 2], "integer"),
        ([True, False], "boolean"),
        ([1, "a"], "string"),
        ([1.5], "string"),
        ([2**60], "string"),
        ([], "string"),
    ],
)
def test_the_type_follows_from_the_options(values: list[Any], kind: str) -> None:
    offered = {"options": [{"label": str(value), "value": value} for value in [*values, *values]]}
    type_, options = choices.static(offered)
    assert type_ == kind
    assert [choices.decoded(option["value"]) for option in options] == values


def test_what_was_looked_up_is_one_page_narrowed_by_the_query() -> None:
    page = choices.remote(CALL, OFFER)
    assert page == {
        "options": [{"label": "Home", "value": "h1"}, {"label": "7", "value": "json:7"}],
        "string_options": None,
        "context": None,
    }
    narrowed = Call(path="", prop="list", query="HO")
    assert [each["value"] for each in choices.remote(narrowed, OFFER)["options"]] == ["h1"]
    assert len(choices.remote(narrowed, {**OFFER, "searches": True})["options"]) == 2
    assert choices.remote(Call(path="", prop="list", page=1), OFFER)["options"] == []
    assert choices.remote(CALL, "nonsense")["options"] == []


@pytest.mark.parametrize(
    ("placeholder", "sentence"), [("Select a **board** first", "Select a board first."), (None, "There is nothing")]
)
def test_the_piece_says_why_there_is_nothing_to_choose(placeholder: str | None, sentence: str) -> None:
    with pytest.raises(ComponentError, match=f"^{sentence}"):
        choices.remote(CALL, {"options": [], "disabled": True, "placeholder": placeholder})
