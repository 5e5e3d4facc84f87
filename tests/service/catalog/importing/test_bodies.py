"""Bodies of every kind are asked for member by member where that helps, and go out as they should."""

from typing import Any

import pytest

from tests.fakes.openapi_documents import action, body, reason
from tests.service.catalog.importing.conftest import Send

PET = {
    "type": "object",
    "required": ["name", "kind"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "kind": {"type": "string", "const": "{pet}"},
        "name": {"type": "string"},
        "weight": {"type": "number"},
        "old": {"type": "string", "deprecated": True},
        "owner": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
        "home": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}},
        "tags": {"type": "array", "items": {"type": "string"}},
        "visits": {"type": "array", "items": {"type": "object", "properties": {"on": {"type": "string"}}}},
    },
}


def test_an_object_is_asked_for_member_by_member(send: Send) -> None:
    made = action(body(PET), "post")
    types = {name: prop["type"] for name, prop in made.toml["props"].items()}
    assert types == {
        "account": "app", "name": "string", "weight": "string", "owner_name": "string", "owner_age": "integer",
        "home": "object", "tags": "string[]", "visits": "any",
    }  # fmt: skip
    assert made.notes == ("old is left out: it is deprecated.",)
    asked = send(made, name="Tom", weight="4.5", owner_name="Ada", visits=[{"on": "2026-11-22"}])
    assert asked.json == {
        "kind": "{pet}", "name": "Tom", "weight": 4.5, "owner": {"name": "Ada"}, "visits": [{"on": "2026-11-22"}],
    }  # fmt: skip
    assert send(made, name="Tom").json == {"kind": "{pet}", "name": "Tom"}


def test_what_is_no_object_is_asked_for_whole(send: Send) -> None:
    made = action(body({"type": "array", "items": {"type": "integer"}}), "put")
    assert made.toml["props"]["body"]["type"] == "integer[]"
    assert send(made, body=[1, 2]).json == [1, 2]
    assert action(body({"type": "object"}), "post").toml["props"]["body"]["type"] == "object"


def test_another_kind_of_json_says_so(send: Send) -> None:
    made = action(body(PET, "application/merge-patch+json"), "patch")
    asked = send(made, name="Tom")
    assert asked.headers["content-type"] == "application/merge-patch+json"
    assert asked.body == b'{"kind":"{pet}","name":"Tom"}'


def test_a_form_is_written_as_its_encoding_says(send: Send) -> None:
    encoding = {"tags": {"style": "deepObject"}, "visits": {"style": "deepObject"}}
    made = action(body(PET, "application/x-www-form-urlencoded", encoding=encoding), "post")
    asked = send(made, name="Tom", tags=["a"], visits=[{"on": "x"}, {"on": "y"}], owner_age=3)
    assert asked.form == {
        "kind": "{pet}", "name": "Tom", "owner[age]": "3", "tags[]": "a", "visits[0][on]": "x", "visits[1][on]": "y",
    }  # fmt: skip
    joined = action(body(PET, "application/x-www-form-urlencoded", encoding={"tags": {"explode": False}}), "post")
    assert send(joined, name="Tom", tags=["a", "b"]).form["tags"] == "a,b"


def test_files_are_sent(send: Send) -> None:
    photo = {"type": "string", "format": "binary"}
    parts = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "photo": photo, "all": {"type": "array", "items": photo}},
    }
    made = action(body(parts, "multipart/form-data"), "post")
    assert made.toml["props"]["photo"]["format"] == made.toml["props"]["all"]["format"] == "file-ref"
    assert made.notes == ("all takes one file at a time.",)
    asked = send(made, {"a.txt": "SGk="}, title="Hello", photo="a.txt")
    assert b'filename="a.txt"' in asked.body and b"Hi" in asked.body and b"Hello" in asked.body
    raw = send(action(body(photo, "image/png"), "put"), {"a.png": "SGk="}, file="a.png")
    assert (raw.body, raw.headers["content-type"]) == (b"Hi", "image/png")


def test_text_is_sent(send: Send) -> None:
    asked = send(action(body({"type": "string"}, "text/markdown"), "post"), body="# Hi")
    assert (asked.body, asked.headers["content-type"]) == (b"# Hi", "text/markdown")


@pytest.mark.parametrize(
    ("operation", "method", "told"),
    [
        (body({}, "application/xml"), "post", "its body is application/xml, which actions do not write"),
        ({"requestBody": {"required": True, **body({})["requestBody"]}}, "get", "a GET with a body"),
        (body({}, "multipart/form-data"), "post", "does not say which parts its body has"),
        ({"requestBody": {"$ref": "#/none"}}, "post", "which does not exist"),
    ],
)
def test_what_cannot_be_sent_is_told(operation: dict[str, Any], method: str, told: str) -> None:
    assert told in reason(operation, method)


def test_what_may_be_left_out_is_noted() -> None:
    assert action(body(PET)).notes == ("the body is left out: a GET has none.",)
    form = action(body({}, "application/x-www-form-urlencoded"), "post")
    assert form.notes == ("the body is left out: the document does not say which fields it has.",)
