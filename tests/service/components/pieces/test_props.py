"""Defaults of pieces: kept where the prop of the wire may have them.

Each kind of prop of a piece as one of the wire.
"""

from typing import Any

import pytest

from tests.fakes.form_library import is_drawn
from tests.service.components.pieces.samples import DECLARATION, PIECE
from webapp.service.components.pieces.form import ComponentFile
from webapp.service.components.pieces.props import _PLAIN, default, mapped, reloaded

CHOICES = {"options": [{"label": "One", "value": 1}, {"label": "Two", "value": 2}]}
KINDS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"type": "SHORT_TEXT"}, {"type": "string"}, "same"),
    ({"type": "LONG_TEXT"}, {"type": "string"}, "same"),
    ({"type": "COLOR"}, {"type": "string"}, "same"),
    ({"type": "SECRET_TEXT"}, {"type": "string", "secret": True}, "same"),
    ({"type": "CHECKBOX", "defaultValue": False}, {"type": "boolean", "default": False}, "same"),
    ({"type": "NUMBER", "min": 1, "max": 100}, {"type": "integer", "min": 1, "max": 100}, "whole"),
    ({"type": "NUMBER", "min": 9, "max": 1}, {"type": "integer"}, "whole"),
    ({"type": "OBJECT"}, {"type": "object", "default": {}}, "same"),
    ({"type": "ARRAY"}, {"type": "string[]"}, "list"),
    ({"type": "STATIC_DROPDOWN", "options": CHOICES}, {"type": "integer", "options": CHOICES["options"]}, "choice"),
    (
        {"type": "STATIC_MULTI_SELECT_DROPDOWN", "options": CHOICES},
        {"type": "integer[]", "options": CHOICES["options"]},
        "choices",
    ),
    ({"type": "DROPDOWN", "refreshers": []}, {"type": "string", "remoteOptions": True, "withLabel": True}, "choice"),
    (
        {"type": "MULTI_SELECT_DROPDOWN", "refreshOnSearch": True},
        {"type": "string[]", "remoteOptions": True, "withLabel": True, "useQuery": True},
        "choices",
    ),
]


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
    assert default({"type": "string", "format": "json", "optional": True}, {"defaultValue": []}) == {}
    assert default({"type": "string", "format": "json"}, {"defaultValue": [1]}) == {"default": "[1]"}


@pytest.mark.parametrize(("described", "fields", "kind"), KINDS, ids=lambda value: str(value)[:40])
def test_a_prop_has_the_type_of_its_kind(described: dict[str, Any], fields: dict[str, Any], kind: str) -> None:
    prop = mapped("list", {**described, "displayName": "A **list**", "required": True})
    assert prop is not None
    assert prop.prop == {"name": "list", "label": "A list", **fields}
    assert prop.kind == kind


@pytest.mark.parametrize(
    ("described", "fields"),
    [
        ({"type": "NUMBER", "displayName": "Price"}, {"type": "string", "description": "A number, such as 12.5."}),
        ({"type": "NUMBER", "step": 0.5}, {"type": "string", "description": "A number, such as 12.5."}),
        (
            {"type": "NUMBER", "displayName": "Top P", "defaultValue": 1},
            {"type": "string", "default": "1", "description": "A number, such as 12.5."},
        ),
        ({"type": "JSON"}, {"type": "string", "format": "json", "description": "JSON, such as an object or a list."}),
        ({"type": "DATE_TIME"}, {"type": "string", "description": "A time, such as 2026-11-22T09:30:00Z."}),
        ({"type": "FILE"}, {"type": "string", "format": "file-ref"}),
        (
            {"type": "ARRAY", "properties": {"label": {"type": "SHORT_TEXT"}, "size": {"type": "NUMBER"}}},
            {"type": "string", "format": "json", "description": "A JSON list of objects with label, size."},
        ),
    ],
)
def test_one_that_needs_a_word_more_says_it(described: dict[str, Any], fields: dict[str, Any]) -> None:
    prop = mapped("some_prop", described)
    assert prop is not None
    label = described.get("displayName", "Some prop")
    assert prop.prop == {"name": "some_prop", "label": label, "optional": True, **fields}


EVERY_TYPE = ("ARRAY", "MARKDOWN", "NUMBER", "STATIC_DROPDOWN", "STATIC_MULTI_SELECT_DROPDOWN", *_PLAIN)


@pytest.mark.parametrize("is_field", [False, True])
@pytest.mark.parametrize("type_", EVERY_TYPE)
@pytest.mark.parametrize("more", [{}, {"properties": {"a": {"type": "JSON"}}, "options": {"options": []}}])
def test_forms_of_existing_clients_draw_every_type(type_: str, is_field: bool, more: dict[str, Any]) -> None:
    """A form breaks as a whole at one prop that it does not know."""
    found = mapped("some_prop", {"type": type_, "description": "Some.", **more}, is_field=is_field)
    assert found is not None and is_drawn(found.prop), found


def test_what_we_say_stands_behind_a_whole_sentence_of_the_piece() -> None:
    def about(description: str) -> object:
        prop = mapped("due", {"type": "DATE_TIME", "description": description})
        return prop and prop.prop["description"]

    assert about("When it is **due**") == "When it is due. A time, such as 2026-11-22T09:30:00Z."
    assert about("When is it due?") == "When is it due? A time, such as 2026-11-22T09:30:00Z."


def test_a_note_is_an_alert() -> None:
    prop = mapped("info", {"type": "MARKDOWN", "description": "**Mind** the gap.", "variant": "WARNING"})
    assert prop is not None
    assert prop.prop == {"name": "info", "type": "alert", "content": "Mind the gap.", "alertType": "warning"}


def test_a_note_that_says_nothing_here_is_none() -> None:
    assert mapped("info", {"type": "MARKDOWN", "description": "At most {{pausedFlowTimeoutDays}} days."}) is None


def test_a_control_of_the_piece_itself_is_a_text_that_may_be_json() -> None:
    prop = mapped("shape", {"type": "CUSTOM", "code": "() => {}", "defaultValue": {"a": 1}})
    assert prop is not None
    assert (prop.prop["type"], prop.prop["default"], prop.kind) == ("string", '{"a": 1}', "json")
    assert prop.prop["description"].endswith("which is not drawn here: write a text, or JSON.")


@pytest.mark.parametrize("kind", ["DYNAMIC", "OAUTH2", "FUTURE", None])
def test_a_kind_that_we_do_not_have_is_none(kind: str | None) -> None:
    assert mapped("x", {"type": kind}) is None


def test_a_reload_lists_all_props_and_those_of_dynamic_ones_at_the_end() -> None:
    file = ComponentFile.model_validate(
        {
            "piece": {**PIECE, "props": {"fields": {"name": "databaseFields", "kind": "dynamic"}}},
            "declaration": DECLARATION,
        }
    )
    described = {
        "databaseFields": {
            "Due date": {"type": "DATE_TIME", "displayName": "Due date", "required": False},
            "Price": {"type": "NUMBER", "displayName": "Price", "required": True},
            "Person": {"type": "DROPDOWN", "displayName": "Person", "required": True},
            "Owner": {"type": "DROPDOWN", "displayName": "Owner", "hasOptions": True, "refreshOnSearch": True},
            "odd": {"type": "FUTURE"},
            "broken": None,
        },
        "others": {"x": {"type": "SHORT_TEXT"}},
    }
    props = reloaded(file, described)
    assert props[:2] == DECLARATION["configurable_props"]
    assert [prop["name"] for prop in props[2:]] == [
        "fields__Due_x20_date_xdate",
        "fields__Price_xnumber",
        "fields__Person",
        "fields__Owner",
    ]
    assert "remoteOptions" not in props[4]
    assert (props[5]["remoteOptions"], props[5]["useQuery"]) == (True, True)
    assert reloaded(file, {"databaseFields": None}) == DECLARATION["configurable_props"]
