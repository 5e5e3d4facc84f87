"""Defaults of pieces: kept where the prop of the wire may have them."""

from typing import Any

import pytest

from webapp.service.components.pieces.defaults import default


@pytest.mark.parametrize(
    ("type_", "value", "kept"),
    [
        ("string", "a", "a"),
        ("string", 5.0, "5"),
        ("string", True, "true"),
        ("string", {"a": 1}, 'json:{"a":1}'),
        ("integer", "10", 10),
        ("integer", 1.5, None),
        ("integer", True, None),
        ("integer", 200, None),
        ("boolean", "false", False),
        ("boolean", "perhaps", None),
        ("string[]", ["a", 1], ["a", "1"]),
        ("string[]", "a", None),
        ("object", {"a": 1}, {"a": 1}),
        ("object", "{}", None),
        ("any", [1], [1]),
    ],
)
def test_one_that_fits_is_kept(type_: str, value: Any, kept: Any) -> None:
    fields = default({"type": type_, "max": 100} if type_ == "integer" else {"type": type_}, {"defaultValue": value})
    assert fields == ({} if kept is None else {"default": kept})


def test_what_a_person_may_leave_alone_has_one_although_it_is_required() -> None:
    assert default({"type": "object"}, {"required": True}) == {"default": {}}
    assert default({"type": "boolean"}, {"required": True}) == {"default": False}
    assert default({"type": "boolean", "optional": True}, {"required": False}) == {}
    assert default({"type": "string"}, {"required": True}) == {}


def test_a_secret_a_file_and_a_choice_that_is_not_offered_have_none() -> None:
    assert default({"type": "string", "secret": True}, {"defaultValue": "x"}) == {}
    assert default({"type": "string", "format": "file-ref"}, {"defaultValue": "x"}) == {}
    options = [{"label": "A", "value": "a"}]
    assert default({"type": "string", "options": options}, {"defaultValue": "b"}) == {}
    assert default({"type": "string[]", "options": options}, {"defaultValue": ["a"]}) == {"default": ["a"]}
    assert default({"type": "any", "optional": True}, {"defaultValue": []}) == {}
