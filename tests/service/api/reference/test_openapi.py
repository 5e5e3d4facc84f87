"""The description of the API: whole, valid, and with schemas, samples and examples that its models admit."""

import json
import re
from typing import Any, Literal

import pytest
from flask import Response
from pydantic import Field

from tests.service.api.reference.answers import misfits
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Body, DateTime, Milliseconds, NoContent, Page, Paged, RawContent
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.api.reference import openapi
from webapp.service.api.reference.openapi import AT, AT_MS, Schemas, query_schema
from webapp.service.api.table import OPERATIONS

BODIES = {"create_access_token", "proxy_post", "proxy_put", "proxy_patch", "proxy_delete"}
documented = Operations(Group("Things", "What there is."), PathParameter("thing_id", "The thing's id.", "$THING_ID"))


class Part(Answer):
    """A part."""

    id: str = Field(examples=["part_1"])


class Thing(Answer):
    """A thing."""

    name: str
    kind: Literal["a", "b"]
    made_at: DateTime
    seen_at: Milliseconds | None
    parts: list[Part]
    note: str | None = None


class ThingList(Paged):
    """Which things."""

    q: str | None = Field(None, description="Words.")


operations = Operations(Group("Things", "What there is."))


@operations.get("/v1/things", answer=Page[Thing], query=ThingList)
def list_things(call: Call) -> Response:
    """Things."""
    return answer({})


def test_a_sample_holds_what_is_never_missing() -> None:
    schemas = Schemas(operations)
    sample = schemas.sample(schemas.of(Page[Thing]))
    parts = [{"id": "part_1"}]
    assert sample["data"] == [{"name": "…", "kind": "a", "made_at": AT, "seen_at": AT_MS, "parts": parts}]


def test_examples_are_for_samples_only() -> None:
    schemas = Schemas(operations)
    assert schemas.named["Part"]["properties"]["id"] == {"type": "string", "examples": ["part_1"]}
    assert schemas.published()["Part"]["properties"]["id"] == {"type": "string"}


def test_a_parameter_is_there_or_not_and_never_null() -> None:
    assert query_schema(operations[0])["properties"]["q"] == {"type": "string", "description": "Words."}


class Documented(Answer):
    """A thing."""

    id: str = Field(examples=["th_1"])


class NewThing(Body):
    """What a thing is made from."""

    name: str = Field(description="Its name.")


@documented.put(
    "P/things/<thing_id>",
    answer=Documented,
    scopes=("connect:projects:write",),
    body=NewThing,
    limit="tools",
    errors=(502,),
    extension=True,
    example=Example(body={"name": "One"}),
)
def name_oauth_thing(call: Call) -> Response:
    """Name a thing."""
    return answer({"id": "th_1"})


@documented.get("/v1/lost/<lost_id>")
def find_lost_thing(call: Call) -> Response:
    """Find what nobody described."""
    return answer({})


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(openapi.document(OPERATIONS, "http://localhost:8600")))
    return found


def test_every_operation_parameter_error_and_scope_is_described(document: dict[str, Any]) -> None:
    for one in OPERATIONS:
        found = document["paths"][one.address][one.method.lower()]
        assert found["operationId"] == one.name and found["summary"] and found["tags"]
        assert found["description"].endswith("."), one.name
        given = {(parameter["in"], parameter["name"]) for parameter in found["parameters"]}
        assert {("path", name) for name in re.findall(r"{(\w+)}", one.address)} <= given
        assert {("query", name) for name in (one.query.model_fields if one.query else ())} <= given
        assert (("header", "x-pd-environment") in given) is one.in_project
        scopes = [scope for way in found["security"] for scope in way.get("oauth", ())]
        assert tuple(scopes) == one.scopes
        assert {"429", "500"} <= set(found["responses"])
        assert ("requestBody" in found) is bool(one.body or one.upload or one.name in BODIES)


def test_every_parameter_and_field_says_what_it_means(document: dict[str, Any]) -> None:
    """A new one says so where it is declared: on its model's field, or beside the operations whose path it is in."""
    silent = [tag["name"] for tag in document["tags"] if not tag["description"].endswith(".")]
    for one in OPERATIONS:
        found = document["paths"][one.address][one.method.lower()]
        silent += [f"{one.name}.{given['name']}" for given in found["parameters"] if not given["description"]]
        if one.body:
            fields = document["components"]["schemas"][one.body.__name__]["properties"]
            silent += [f"{one.body.__name__}.{name}" for name, field in fields.items() if not field.get("description")]
    assert silent == []


def test_every_answer_has_a_sample_that_its_model_admits(document: dict[str, Any]) -> None:
    for one in OPERATIONS:
        if not isinstance(one.answer, NoContent | RawContent):
            found = document["paths"][one.address][one.method.lower()]["responses"]["200"]
            shown = found["content"]["application/json"]["example"]
            assert shown not in ({}, []) and list(misfits(one.answer, json.dumps(shown).encode())) == []


def test_an_owner_is_required_of_servers(document: dict[str, Any]) -> None:
    """Contract "Updating", "Trigger webhooks": a Connect token says by itself whose the trigger is."""
    for path, methods in document["paths"].items():
        for found in methods.values():
            if "{trigger_id}" in path or "/proxy/" in path:
                (owner,) = (one for one in found["parameters"] if one["name"] == "external_user_id")
                assert owner["required"] and "Connect token" in owner["description"]


def test_references_lead_somewhere_and_nothing_is_left_over(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    used = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert used == set(document["components"]["schemas"])
    assert set(re.findall(r'"#/components/responses/([^"]+)"', text)) <= set(document["components"]["responses"])


def test_an_operation_is_described_by_its_declaration_only() -> None:
    described = openapi.document(documented[:1], "https://patchbay.example")
    assert described["servers"] == [{"url": "https://patchbay.example"}]
    assert described["tags"] == [{"name": "Things", "description": "What there is."}]
    [(address, methods)] = described["paths"].items()
    assert (address, list(methods)) == ("/v1/connect/{project_id}/things/{thing_id}", ["put"])
    found = methods["put"]
    assert (found["operationId"], found["summary"], found["x-extension"]) == (
        "name_oauth_thing",
        "Name OAuth thing",
        True,
    )
    assert found["description"] == (
        "Name a thing. Limited to 3,000 requests in 300 seconds for each project and environment. "
        "An extension of Patchbay."
    )
    assert [(one["in"], one["name"], one["required"]) for one in found["parameters"]] == [
        ("path", "project_id", True),
        ("path", "thing_id", True),
        ("header", "x-pd-environment", True),
        ("header", "x-pd-rate-limit", False),
    ]
    assert found["security"] == [{"oauth": ["connect:projects:write"]}, {"connectToken": []}]
    assert found["requestBody"] == {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}, "example": {"name": "One"}}
        },
    }


def test_the_answers_of_an_operation_follow_from_its_declaration() -> None:
    answers = openapi.document(documented[:1], "https://patchbay.example")["paths"][
        "/v1/connect/{project_id}/things/{thing_id}"
    ]["put"]["responses"]
    assert list(answers) == ["200", "400", "401", "403", "404", "409", "413", "415", "429", "500", "502", "503"]
    assert answers["200"]["content"]["application/json"]["example"] == {"id": "th_1"}
    assert list(answers["200"]["headers"]) == ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
    assert answers["502"] == {"$ref": "#/components/responses/502"}


def test_a_parameter_that_its_module_did_not_declare_is_an_error() -> None:
    with pytest.raises(KeyError, match="lost_id"):
        openapi.document(documented, "https://patchbay.example")


def test_models_inside_a_list_are_described_too() -> None:
    class Inner(Answer):
        """What a list holds."""

        name: str = Field(examples=["One"])

    operations = Operations(Group("Lists", "Lists of things."))

    @operations.get("P/lists", answer=list[Inner])
    def list_lists(call: Call) -> Response:
        """List the lists."""
        return answer([])

    described = openapi.document(list(operations), "https://patchbay.example")
    assert "Inner" in described["components"]["schemas"]
    (methods,) = described["paths"].values()
    content = methods["get"]["responses"]["200"]["content"]["application/json"]
    assert content["schema"]["items"] == {"$ref": "#/components/schemas/Inner"}
    assert content["example"] == [{"name": "One"}]


def test_two_models_of_one_name_are_an_error() -> None:
    def model(field: str) -> Any:
        return type("Same", (Answer,), {"__annotations__": {field: str}, "__doc__": "One of two."})

    schemas = Schemas([])
    schemas.of(list[model("a")])  # type: ignore[misc]
    with pytest.raises(ValueError, match="Two models of the API are called Same"):
        schemas.of(list[model("b")])  # type: ignore[misc]
