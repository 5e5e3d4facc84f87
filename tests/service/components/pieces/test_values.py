"""The names of fields of dynamic props: what is written is read again.

Options of a piece as those of the wire, and back.

Values of the wire as a piece has them.
"""

from typing import Any

import pytest

from tests.service.components.pieces.samples import PIECE
from webapp.service.components.calls import Call
from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces import values as choices
from webapp.service.components.pieces.form import PieceForm, ValueKind
from webapp.service.components.pieces.values import field_name, field_of, props_value

CALL = Call(path="x.json", method="options", prop="list")
OFFER = {"options": [{"label": "Home", "value": "h1"}, {"label": "", "value": 7}, {"label": "None", "value": None}]}
PROPS = {
    "title": {"name": "task-title"}, "list": {"name": "list", "kind": "choice"},
    "people": {"name": "people", "kind": "choices"}, "price": {"name": "price", "kind": "number"},
    "blocks": {"name": "blocks", "kind": "json"}, "due": {"name": "due", "kind": "date"},
    "picture": {"name": "picture", "kind": "file"}, "tags": {"name": "tags", "kind": "list"},
    "rows": {"name": "rows", "kind": "rows", "members": {"price": "number", "scan": "file"}},
    "fields": {"name": "databaseFields", "kind": "dynamic"},
}  # fmt: skip
FORM = PieceForm.model_validate({**PIECE, "props": PROPS})


@pytest.mark.parametrize("kind", ["choice", "number", "json", "date", "file", "rows"])
@pytest.mark.parametrize(
    "field", ["title", "Due date", "_x20_", "größe", "a__b", "price_xnumber", "a xnumber", "_xxjson", "名前", "x", ""]
)
def test_a_field_is_found_by_its_name(field: str, kind: ValueKind) -> None:
    name = field_name("fields", field, kind)
    assert name.isascii()
    assert name.replace("_", "").isalnum()
    assert field_of(name, ["field", "fields", "fields__more"]) == ("fields", field, kind)


def test_names_of_others_are_left_alone() -> None:
    assert field_of("title", ["fields"]) is None
    assert field_of("fields__x_xffffff_", ["fields"]) == ("fields", "x_xffffff_", "choice")


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
