"""A draft asks for each value once, required ones first, and keeps texts of the document as they are.

Every style of a parameter goes out as OpenAPI says; what cannot is told, and never silently left out.

Bodies of every kind are asked for member by member where that helps, and go out as they should.

What an action says when it is done, and whether its answer is data or a file.

An operation becomes a whole declared action.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.form_library import is_drawn
from tests.fakes.openapi_documents import ADDRESS, action, body, planned, query, reason
from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.catalog.importing.conftest import Send
from tests.service.components.declared.conftest import Desk
from webapp.service.catalog.importing.actions import HINTS, Action, Draft, Unsaid, plain
from webapp.service.catalog.importing.documents import Refs
from webapp.service.catalog.importing.schemas import Shape
from webapp.service.catalog.importing.words import Names
from webapp.service.components.calls import Reply

LIST = {"type": "array", "items": {"type": "string"}}
DATA = {"application/json": {"schema": {"type": "object"}}}
RANGE = {"type": "object", "properties": {"gte": {"type": "integer"}, "lt": {"type": "integer"}}}
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
LIST_OF_ITEMS = {"type": "array", "items": {}}


def test_required_props_come_first_after_the_account() -> None:
    draft = Draft(Refs({}), Names({}, ("account",)))
    assert draft.ask("query", "page", Shape("integer"), required=False) == "{page}"
    ids = draft.ask("path", "ids", Shape("array", items={"type": "string"}), required=True)
    assert draft.joined(ids, ",") == "{ids|join(',')}"
    assert draft.joined(draft.ask("body", "n", Shape("number"), required=False), ";") == "{n|number|join(';')}"
    assert list(draft.toml("acme")) == ["account", "ids", "page", "n"]
    assert list(draft.toml(None)) == ["ids", "page", "n"]
    draft.leave_out("page", "it is old")
    assert draft.notes == ["page is left out: it is old."]


def test_braces_of_the_document_are_no_holes() -> None:
    assert plain({"a": ["{x}", 1]}) == {"a": ["{{x}}", 1]}


def test_a_value_that_is_nested_too_deeply_is_not_written() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    with pytest.raises(Unsaid, match="nested too deeply"):
        plain({"a": deep})


@pytest.mark.parametrize(
    ("parameter", "props", "sent"),
    [
        (query("q", {"type": "string"}), {"q": "a b"}, {"q": ["a b"]}),
        (query("q", {"type": "string"}), {}, {}),
        (query("n", {"type": "number"}), {"n": "1.50"}, {"n": ["1.5"]}),
        (query("on", {"type": "boolean"}), {"on": False}, {"on": ["false"]}),
        (query("tags", LIST), {"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
        (query("tags", LIST, explode=False), {"tags": ["a", "b"]}, {"tags": ["a,b"]}),
        (query("tags", LIST, style="pipeDelimited"), {"tags": ["a", "b"]}, {"tags": ["a|b"]}),
        (query("tags", LIST, style="spaceDelimited", explode=False), {"tags": ["a", "b"]}, {"tags": ["a b"]}),
        (query("tags[]", LIST, style="deepObject"), {"tags": ["a", "b"]}, {"tags[]": ["a", "b"]}),
        (query("at", RANGE, style="deepObject"), {"at": {"gte": 1, "lt": 5}}, {"at[gte]": ["1"], "at[lt]": ["5"]}),
        (query("at", RANGE), {"gte": 1}, {"gte": ["1"]}),
        (query("v", {"const": "2"}, required=True), {}, {"v": ["2"]}),
        ({"name": "f", "in": "query", "content": DATA}, {"f": {"gte": 1}}, {"f": ['{"gte":1}']}),
        (query("account", {"type": "string"}), {"account_query": "x"}, {"account": ["x"]}),
        (query("page[size]", {"type": "integer"}), {"page_size": 5}, {"page[size]": ["5"]}),
    ],
)  # fmt: skip
def test_the_query_is_as_its_style_says(send: Send, parameter: Any, props: Any, sent: dict[str, list[str]]) -> None:
    assert send(action({"parameters": [parameter]}), **props).queries == sent


def test_the_path_and_headers_are_filled_in(send: Send) -> None:
    parameters = [
        {"name": "ids", "in": "path", "required": True, "schema": LIST},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
        {"name": "X-Tags", "in": "header", "schema": LIST},
        {"name": "Authorization", "in": "header", "required": True, "schema": {"type": "string"}},
    ]
    made = action({"parameters": parameters}, path="/things/{ids}/{name}.json#again")
    assert list(made.toml["props"]) == ["account", "ids", "name", "X_Trace", "X_Tags"]
    asked = send(made, ids=["a", "b"], name="x/y", X_Trace="t", X_Tags=["1", "2"])
    assert asked.what == "GET /things/a%2Cb/x%2Fy.json"
    assert (asked.headers["x-trace"], asked.headers["x-tags"]) == ("t", "1,2")
    assert send(action({}, path="/v1/{+name}"), name="a/b").what == "GET /v1/a/b"


def test_what_tells_operations_of_one_path_apart_is_sent_without_a_value(send: Send) -> None:
    switch = query("tagging", {"type": "boolean", "enum": [True]}, required=True, allowEmptyValue=True)
    listed = [switch, query("version", {"type": "string"})]
    made = action({"parameters": listed}, path="/{bucket}#tagging")
    assert list(made.toml["props"]) == ["account", "bucket", "version"]
    asked = send(made, bucket="mine", version="7")
    assert (asked.what, asked.queries) == ("GET /mine", {"tagging": [""], "version": ["7"]})
    named = query("list-type", {"type": "string", "enum": ["2"]}, required=True, allowEmptyValue=True)
    assert send(action({"parameters": [named]}, path="/{bucket}"), bucket="mine").queries == {"list-type": ["2"]}


def test_a_parameter_may_be_described_elsewhere_and_an_own_one_counts() -> None:
    parameters = {"page": query("page", {"type": "integer"})}
    listed = [query("q", {"type": "integer"}), {"$ref": "#/components/parameters/page"}]
    made = action({"parameters": listed}, components={"securitySchemes": {}, "parameters": parameters})
    assert [(name, prop["type"]) for name, prop in made.toml["props"].items()] == [
        ("q", "integer"),
        ("page", "integer"),
    ]


@pytest.mark.parametrize(
    ("parameter", "note"),
    [
        (query("old", {"type": "string"}, deprecated=True), "old is left out: it is deprecated."),
        (query("at", {"type": "object"}), "at is left out: an object cannot be written into the query so."),
        ({"name": "sid", "in": "cookie"}, "sid is left out: actions send no cookies."),
        ({"name": "Host", "in": "header", "required": True}, "Host is left out: it is set when the request is sent."),
        (
            {"name": "X-O", "in": "header", "schema": RANGE},
            "X-O is left out: an object cannot be written into a header.",
        ),
        (query("x", {"$ref": "a.json"}), "x is left out: it refers to another document, a.json."),
    ],
)
def test_what_is_left_out_is_noted(parameter: Any, note: str) -> None:
    assert action({"parameters": [parameter]}).notes == (note,)


@pytest.mark.parametrize(
    ("parameter", "told"),
    [
        (query("at", {"type": "object"}, required=True), "at is required, and an object cannot be written"),
        ({"name": "sid", "in": "cookie", "required": True}, "sid is required, and actions send no cookies"),
        ({"name": "id", "in": "path", "schema": {"type": "object"}}, "id is an object in its path"),
        ({"$ref": "#/nowhere"}, "a parameter cannot be read"),
    ],
)
def test_what_is_required_and_cannot_be_said_ends_the_operation(parameter: Any, told: str) -> None:
    assert told in reason({"parameters": [parameter]}, path="/things/{id}")


def test_an_operation_has_so_many_parameters_at_most() -> None:
    many = [{"name": f"p{number}", "in": "query"} for number in range(600)]
    plan = planned({"/a": {"get": {"operationId": "a", "parameters": many}}})
    assert [each.reason for each in plan.left] == ["it has more than 500 parameters"]


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
def test_what_cannot_be_sent_is_reported(operation: dict[str, Any], method: str, told: str) -> None:
    assert told in reason(operation, method)


def test_what_may_be_left_out_is_noted() -> None:
    assert action(body(PET)).notes == ("the body is left out: a GET has none.",)
    form = action(body({}, "application/x-www-form-urlencoded"), "post")
    assert form.notes == ("the body is left out: the document does not say which fields it has.",)


def answering(schema: Any, title: str = "List things", kind: str = "application/json") -> dict[str, Any]:
    return {"summary": title, "responses": {"200": {"content": {kind: {"schema": schema}}}}}


@pytest.mark.parametrize(
    ("operation", "summary"),
    [
        (answering(LIST_OF_ITEMS), "Listed things: {$answer|count('item')}"),
        (
            answering({"properties": {"data": LIST_OF_ITEMS, "warnings": LIST_OF_ITEMS}}),
            "Listed things: {$answer.data|count('item')}",
        ),
        (
            answering({"properties": {"id": {"type": "string"}}, "required": ["id"]}, "Creates a pet"),
            "Created a pet: {$answer.id}",
        ),
        (answering({"properties": {"name": {"type": "string"}}}, "Rotate {key}"), "Done: Rotate {{key}}"),
        ({"summary": "Delete a pet", "responses": {"204": {}}}, "Deleted a pet"),
    ],
)
def test_the_summary_is_a_sentence(operation: dict[str, Any], summary: str) -> None:
    assert action(operation).toml["summary"] == summary


@pytest.mark.parametrize(
    ("kind", "name"),
    [("text/csv", "do-it.csv"), ("application/pdf", "do-it.pdf"), ("application/octet-stream", "do-it.bin")],
)
def test_what_is_no_data_is_kept_as_a_file(kind: str, name: str) -> None:
    made = action(answering({"type": "string"}, "Export things", kind))
    assert (made.toml["file"], made.toml["summary"]) == (name, "Done: Export things: {$file.name}")


def test_an_answer_is_reported_when_the_action_has_run(desk: Desk, call: Callable[..., Reply]) -> None:
    desk.on("GET /things", [1, 2])
    reply = call(action(answering(LIST_OF_ITEMS)))
    assert (reply.value, reply.exports["$summary"]) == ([1, 2], "Listed things: 2 items")
    desk.on("GET /things", FakeAnswer(204))
    assert call(action({"summary": "Ping"})).value is None


def test_an_operation_becomes_an_action() -> None:
    made = action(
        {
            "summary": "Find pets",
            "description": "Finds *pets* by name.\n\nMore about it.",
            "parameters": [query("q", {"type": "string"}, required=True, description="What to look for")],
        }
    )
    assert (made.name, dict(made.props)) == ("do-it", {"query:q": "q"})
    assert made.toml == {
        "name": "Find pets",
        "description": f"Finds pets by name. [See the documentation]({ADDRESS})",
        "hints": "reads",
        "summary": "Found pets",
        "props": {
            "account": {"type": "app", "app": "acme"},
            "q": {"type": "string", "label": "Q", "description": "What to look for."},
        },
        "request": {"method": "GET", "url": "/things", "params": {"q": "{q}"}},
    }


@pytest.mark.parametrize(("method", "hints"), HINTS.items())
def test_hints_follow_from_the_method(method: str, hints: str) -> None:
    assert action({}, method.lower()).toml["hints"] == hints


def test_an_operations_own_documentation_is_linked() -> None:
    made = action({"summary": "Ring", "externalDocs": {"url": "https://acme.example/ring?a=(b) c#d"}})
    assert made.toml["description"] == "Ring. [See the documentation](https://acme.example/ring?a=%28b%29%20c#d)"
    odd = action({"summary": "Ring", "externalDocs": {"url": "javascript:alert(1)"}})
    assert odd.toml["description"] == f"Ring. [See the documentation]({ADDRESS})"


def test_without_accounts_the_address_is_whole() -> None:
    made = action({}, security=[], schemes={})
    assert made.toml["request"]["url"] == "https://api.acme.example/v1/things"
    assert made.toml["props"] == {}


ANYTHING: dict[str, Any] = {
    "nothing": {}, "any": {"description": "Whatever you like."}, "lists": {"type": "array", "items": {"type": "array"}},
    "rows": {"type": "array", "items": {"type": "object"}}, "many": {"type": "array", "items": {}},
    "both": {"type": ["string", "object"]}, "one": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {}}]},
    "free": {"type": "object", "additionalProperties": True}, "whole": {"type": "integer"}, "part": {"type": "number"},
    "on": {"type": "boolean"}, "file": {"type": "string", "format": "binary"}, "words": LIST,
    "kind": {"enum": ["a", 1, None]}, "null": {"type": "null"}, "range": RANGE, "pet": PET,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_forms_of_existing_clients_draw_what_is_imported(
    desk: Desk, declare: Callable[[Action], Reply], kind: str
) -> None:
    """A value of any kind is asked for as text that holds JSON: a form breaks as a whole at a type it does not know."""
    members = body({"type": "object", "required": ["any"], "properties": ANYTHING}, kind)
    asked = [query(f"q_{name}", schema) for name, schema in ANYTHING.items() if name != "file"]
    for operation in ({"parameters": asked, **members}, body({}, kind) if kind == "application/json" else members):
        facts = declare(action(operation, "post")).value
        props = facts["configurable_props"]
        assert facts["problems"] == [] and len(props) > 1
        assert [prop for prop in props if not is_drawn(prop)] == []


DAY = {"type": "object", "properties": {"date": {"type": "string"}}}
DAYS = {"type": "object", "required": ["start"], "properties": {"start": DAY, "end": DAY}}


def test_a_required_object_whose_members_are_optional_is_sent_empty_if_nothing_is_in_it() -> None:
    content = body(DAYS)["requestBody"]
    sent = action({"requestBody": {"required": True, **content}}, "post").toml["request"]
    assert sent["json"] == {"start": {"date": "{start_date}"}, "end": {"date": "{end_date}"}}
    assert (sent["needed"], "bare" in sent) == (["start"], False)


@pytest.mark.parametrize("schema", [DAYS, {"type": "array", "items": {"type": "string"}}])
def test_a_body_that_is_not_required_is_left_out_if_nothing_is_in_it(schema: dict[str, Any]) -> None:
    sent = action(body(schema), "post").toml["request"]
    assert (sent["bare"], "needed" in sent) == (True, False)


def test_a_body_with_a_file_is_sent_in_parts_though_the_document_offers_json_as_well() -> None:
    binary = {"type": "string", "format": "binary"}
    schema = {"type": "object", "properties": {"files": {"oneOf": [{"type": "array", "items": binary}, binary]}}}
    content = {kind: {"schema": schema} for kind in ("application/json", "multipart/form-data")}
    sent = action({"requestBody": {"content": content}}, "post").toml
    assert sent["request"]["multipart"] == {"files": {"file": "{files}"}}
    assert sent["props"]["files"]["format"] == "file-ref"
    plain_fields = {kind: {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}} for kind in content}
    assert action({"requestBody": {"content": plain_fields}}, "post").toml["request"]["json"] == {"a": "{a}"}
