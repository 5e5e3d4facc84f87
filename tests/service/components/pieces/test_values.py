"""Values of the wire as a piece has them."""

from typing import Any

import pytest

from tests.service.components.pieces.samples import PIECE
from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces.form import PieceForm
from webapp.service.components.pieces.values import props_value

PROPS = {
    "title": {"name": "task-title"}, "list": {"name": "list", "kind": "choice"},
    "people": {"name": "people", "kind": "choices"}, "price": {"name": "price", "kind": "number"},
    "blocks": {"name": "blocks", "kind": "json"}, "due": {"name": "due", "kind": "date"},
    "picture": {"name": "picture", "kind": "file"}, "tags": {"name": "tags", "kind": "list"},
    "rows": {"name": "rows", "kind": "rows", "members": {"price": "number", "scan": "file"}},
    "fields": {"name": "databaseFields", "kind": "dynamic"},
}  # fmt: skip
FORM = PieceForm.model_validate({**PIECE, "props": PROPS})


def test_each_value_has_the_name_and_the_form_of_the_piece() -> None:
    values: dict[str, Any] = {
        "title": "json:1", "list": "json:7", "people": ["a", 'json:{"id":1}'], "price": "12.50", "blocks": "[1]",
        "due": "2026-11-22", "picture": "a.png", "tags": ["x"], "rows": [{"price": "3", "scan": "b.png", "x": 1}],
        "fields__Due_x20_date_xdate": "2026-11-22T10:00:00+01:00", "fields__Price_xnumber": "5", "timer": {},
        "fields__Tags": ["a", "json:2"], "empty": None,
    }  # fmt: skip
    assert props_value(FORM, values) == {
        "task-title": 1,
        "list": 7,
        "people": ["a", {"id": 1}],
        "price": 12.5,
        "blocks": [1],
        "due": "2026-11-22T00:00:00.000Z",
        "picture": {"$file": "a.png"},
        "tags": ["x"],
        "rows": [{"price": 3, "scan": {"$file": "b.png"}, "x": 1}],
        "databaseFields": {"Due date": "2026-11-22T09:00:00.000Z", "Price": 5, "Tags": ["a", 2]},
    }


def test_a_dynamic_prop_without_fields_is_an_empty_object() -> None:
    assert props_value(FORM, {}) == {"databaseFields": {}}


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("blocks", "no JSON", "no JSON"),
        ("blocks", {"a": 1}, {"a": 1}),
        ("blocks", 'json:{"a":1}', {"a": 1}),
        ("due", "tomorrow", "tomorrow"),
        ("rows", '{"price": 1}', [{"price": 1}]),
        ("rows", ["a"], ["a"]),
        ("tags", "x", ["x"]),
        ("price", 3, 3),
    ],
)
def test_what_is_another_form_is_taken_as_far_as_it_goes(name: str, value: Any, kept: Any) -> None:
    assert props_value(FORM, {name: value})[name] == kept


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("price", "much", "price is not valid: write a number, such as 12.5."),
        ("price", "nan", "price is not valid: write a number, such as 12.5."),
        ("rows", "no", "rows is not valid: it must be a JSON list of objects."),
        ("fields__Price_xnumber", "much", "Price is not valid: write a number"),
    ],
)
def test_what_does_not_fit_is_a_sentence(name: str, value: Any, sentence: str) -> None:
    with pytest.raises(ComponentError, match=sentence):
        props_value(FORM, {name: value})
