"""A shape becomes a prop of a form with its choices, limits, default and advice."""

from typing import Any

import pytest

from webapp.service.catalog.importing.refs import Refs
from webapp.service.catalog.importing.schemas import shape
from webapp.service.catalog.importing.values import value

NUMBER = {"pattern": r"-?\d+(\.\d+)?([eE]-?\d+)?", "advice": "Write a number, such as 12.5."}


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
