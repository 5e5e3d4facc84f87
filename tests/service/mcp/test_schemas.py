"""Every type of prop as JSON Schema that strict clients validate."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from webapp.service.mcp.schemas import MAX_CHOICES, has_lookup, input_schema

PROPS: list[dict[str, Any]] = [
    {"name": "note", "type": "alert", "content": "Mind the gap."},
    {"name": "account", "type": "app", "app": "tinykeys"},
    {"name": "title", "type": "string", "label": "Title", "description": "What it is called."},
    {"name": "kind", "type": "string", "optional": True, "options": [{"label": "Open", "value": "o"}, "closed"]},
    {"name": "project", "type": "string", "remoteOptions": True},
    {"name": "size", "type": "integer", "min": 1, "max": 9, "default": 3},
    {"name": "sizes", "type": "integer[]", "min": 1, "optional": True, "options": [1, 2]},
    {"name": "tags", "type": "string[]", "optional": True},
    {"name": "urgent", "type": "boolean", "optional": True},
    {"name": "fields", "type": "object", "optional": True},
    {"name": "value", "type": "any", "optional": True},
    {"name": "statement", "type": "sql", "optional": True},
    {"name": "request", "type": "http_request", "optional": True},
    {"name": "file", "type": "string", "format": "file-ref", "optional": True},
    {"name": "inner", "type": "string", "hidden": True},
    {"name": "fixed", "type": "string", "readOnly": True},
    {"name": "memory", "type": "$.service.db"},
    {"name": "channels", "type": "$.discord.channel[]", "optional": True},
]
GOOD = {"title": "A", "project": "p1"}


def test_it_asks_for_what_a_person_would_fill_in() -> None:
    schema = input_schema(PROPS, reloads=False)
    Draft202012Validator.check_schema(schema)
    unasked = {"note", "account", "inner", "fixed", "memory"}
    assert schema["properties"].keys() == {prop["name"] for prop in PROPS} - unasked
    assert schema["required"] == ["title", "project"] and schema["additionalProperties"] is False
    kind, project = schema["properties"]["kind"], schema["properties"]["project"]
    assert kind == {"type": "string", "enum": ["o", "closed"], "description": "One of o: Open."}
    assert project["description"] == "Look values up with list_options (prop project)."
    assert schema["properties"]["file"]["description"] == "The address of a file."


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "o", "size": 9, "sizes": [1], "tags": ["a"], "urgent": True, "fields": {"a": 1}, "value": [None]},
        {"statement": {"query": "select 1", "params": []}, "request": {"url": "https://example.com", "method": "GET"}},
    ],
)
def test_good_values_are_valid(more: dict[str, Any]) -> None:
    Draft202012Validator(input_schema(PROPS, reloads=False)).validate({**GOOD, **more})


@pytest.mark.parametrize(
    "more",
    [{"kind": "x"}, {"size": 10}, {"sizes": [3]}, {"tags": "a"}, {"urgent": "yes"}, {"typo": 1}, {"title": None}],
)
def test_others_are_not(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(input_schema(PROPS, reloads=False)).validate({**GOOD, **more})


def test_further_arguments_are_named_by_their_id() -> None:
    schema = input_schema(PROPS, reloads=True)
    assert schema["additionalProperties"] is True and "dynamic_props_id" in schema["properties"]


def test_very_many_options_are_looked_up() -> None:
    prop = {"name": "country", "type": "string", "options": [str(number) for number in range(MAX_CHOICES + 1)]}
    assert has_lookup(prop)
    assert "enum" not in input_schema([prop], reloads=False)["properties"]["country"]
