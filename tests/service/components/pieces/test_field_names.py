"""The names of fields of dynamic props: what is written is read again."""

import pytest

from webapp.service.components.pieces.field_names import field_name, field_of
from webapp.service.components.pieces.form import ValueKind


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
