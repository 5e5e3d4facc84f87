"""A schema is brought to what a form can ask for, however it is put together; circles come to an end.

A shape becomes a prop of a form with its choices, limits, default and advice.
"""

from typing import Any

import pytest

from webapp.errors import Invalid
from webapp.service.catalog.importing import documents
from webapp.service.catalog.importing.documents import Refs, Unresolved
from webapp.service.catalog.importing.schemas import Shape, shape, value

PETS = {
    "Pet": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "Cat": {"allOf": [{"$ref": "#/Pet"}, {"properties": {"lives": {"type": "integer"}}, "required": ["lives"]}]},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/Node"}}},
    "Loop": {"allOf": [{"$ref": "#/Loop"}]},
    "Kind": {"enum": ["cat", "dog"]},
}
NUMBER = {"pattern": r"-?\d+(\.\d+)?([eE]-?\d+)?", "advice": "Write a number, such as 12.5."}


def of(schema: Any) -> Shape:
    return shape(Refs(PETS), schema)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": ["string", "null"]}, "string"),
        ({"type": ["integer", "number"]}, "number"),
        ({"type": ["string", "integer"]}, "any"),
        ({"type": "string", "format": "binary"}, "file"),
        ({"type": "string", "contentMediaType": "image/png"}, "file"),
        ({"properties": {}}, "object"),
        ({"items": {}}, "array"),
        ({"enum": [1, 2]}, "integer"),
        ({"format": "date"}, "string"),
        ({}, "any"),
        (True, "any"),
        ({"$ref": "#/Loop"}, "any"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
        ({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "array"),
        ({"oneOf": [{"type": "string"}, {"type": "object"}]}, "any"),
        ({"anyOf": [{"$ref": "#/Pet"}, {"enum": [""]}]}, "object"),
    ],
)
def test_the_kind_is_told_from_whatever_is_said(schema: Any, kind: str) -> None:
    assert of(schema).kind == kind


def test_parts_are_merged() -> None:
    cat = of({"$ref": "#/Cat"})
    assert set(cat.members) == set(cat.required) == {"name", "lives"}


def test_of_objects_to_choose_from_all_members_are_asked_and_what_all_need_is_required() -> None:
    either = of(
        {
            "oneOf": [
                {"$ref": "#/Cat"},
                {"properties": {"name": {}, "kind": {"enum": ["a"]}}, "required": ["name"]},
                {"properties": {"name": {}, "kind": {"enum": ["b", "a"]}}, "required": ["name"]},
            ]
        }
    )
    assert (list(either.members), list(either.required)) == (["name", "lives", "kind"], ["name"])
    assert either.members["kind"]["enum"] == ["a", "b"]


def test_choices_have_their_names_and_no_empty_one() -> None:
    assert of({"enum": ["a", "", None, "a"]}).options == (("a", "a"),)
    assert of({"enum": [1, 2], "x-enumNames": ["One", "Two"]}).options == ((1, "One"), (2, "Two"))
    assert of({"anyOf": [{"$ref": "#/Kind"}, {"type": "string", "const": "cow"}]}).options[-1] == ("cow", "cow")
    assert of({"anyOf": [{"$ref": "#/Kind"}, {"type": "string"}]}).options == ()
    assert (of({"const": 5}).constant, of({"enum": ["only"]}).constant) == (5, "only")


def test_a_circle_is_followed_only_as_far_as_it_is_looked_at() -> None:
    node = of({"$ref": "#/Node"})
    assert of(node.members["next"]).kind == "object"
    with pytest.raises(Unresolved):
        of({"$ref": "other.json"})


def test_parts_that_lead_to_themselves_many_times_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_STEPS", 5000)
    with pytest.raises(Invalid, match="refers to itself so often"):
        shape(Refs({"Loop": {"allOf": [{"$ref": "#/Loop"}] * 9}}), {"$ref": "#/Loop"})


def test_long_lists_of_choices_are_put_together_at_once() -> None:
    objects = [{"properties": {"size": {"enum": [*range(start, start + 30_000), [1]]}}} for start in (0, 20_000)]
    size = of({"oneOf": objects}).members["size"]
    assert size["enum"] == list(range(50_000))


def fields(schema: Any, *, required: bool = True) -> dict[str, Any]:
    refs = Refs({})
    return dict(value(refs, shape(refs, schema), "It", required=required).fields)


@pytest.mark.parametrize(
    ("schema", "more"),
    [
        ({"type": "string", "default": "a"}, {"type": "string", "default": "a"}),
        ({"type": "string", "enum": ["a", "b"], "default": "c"}, {"type": "string", "options": ["a", "b"]}),
        ({"type": "string", "format": "password", "default": "x"}, {"type": "string", "secret": True}),
        ({"type": "string", "format": "date"}, {"type": "string", "description": "A day, such as 2026-11-22."}),
        ({"type": "string", "format": "binary"}, {"type": "string", "format": "file-ref"}),
        ({"type": "integer", "minimum": 1, "maximum": 9.0, "default": 3},
         {"type": "integer", "min": 1, "max": 9, "default": 3}),
        ({"type": "integer", "minimum": 5, "maximum": 1}, {"type": "integer"}),
        ({"type": "integer", "maximum": 2**63, "default": 2**63}, {"type": "integer"}),
        ({"type": "integer", "default": True}, {"type": "integer"}),
        ({"type": "integer", "enum": [1, 2], "x-enumNames": ["One", "Two"]},
         {"type": "integer", "options": [{"label": "One", "value": 1}, {"label": "Two", "value": 2}]}),
        ({"type": "number", "default": 1.5}, {"type": "string", "default": "1.5", **NUMBER}),
        ({"type": "number", "enum": [0.5, 1]}, {"type": "string", "options": ["0.5", "1"]}),
        ({"type": "boolean", "default": False}, {"type": "boolean", "default": False}),
        ({"type": "array", "items": {"enum": ["a"]}}, {"type": "string[]", "options": ["a"]}),
        ({"type": "array", "items": {"type": "integer"}}, {"type": "integer[]"}),
        ({"type": "array"}, {"type": "any", "description": "A JSON list."}),
        ({"type": "array", "items": {"properties": {"a": {}, "b": {}}}},
         {"type": "any", "description": "A JSON list of objects with a, b."}),
        ({"type": "object", "default": {}}, {"type": "object"}),
        ({"description": "Any *thing*"}, {"type": "any", "description": "Any thing."}),
    ],
)  # fmt: skip
def test_each_kind_has_its_prop(schema: Any, more: dict[str, Any]) -> None:
    assert fields(schema) == {"label": "It", **more}


def test_what_may_be_missing_is_optional_and_a_number_is_sent_as_one() -> None:
    assert fields({"type": "boolean"}, required=False)["optional"] is True
    refs = Refs({})
    assert value(refs, shape(refs, {"type": "number"}), "It", required=True).hole("price") == "{price|number}"
