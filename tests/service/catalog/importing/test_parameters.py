"""Every style of a parameter goes out as OpenAPI says; what cannot is told, and never silently left out."""

from typing import Any

import pytest

from tests.fakes.openapi_documents import action, planned, query, reason
from tests.service.catalog.importing.conftest import Send

LIST = {"type": "array", "items": {"type": "string"}}
DATA = {"application/json": {"schema": {"type": "object"}}}
RANGE = {"type": "object", "properties": {"gte": {"type": "integer"}, "lt": {"type": "integer"}}}


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
