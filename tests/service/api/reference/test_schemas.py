"""Schemas of models, and samples drawn from them."""

from typing import Literal

from flask import Response
from pydantic import Field

from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, DateTime, Milliseconds, Page, Paged
from webapp.service.api.base.operations import Group, Operations
from webapp.service.api.reference.schemas import AT, AT_MS, Schemas, query_schema


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


def test_examples_are_for_samples_alone() -> None:
    schemas = Schemas(operations)
    assert schemas.named["Part"]["properties"]["id"] == {"type": "string", "examples": ["part_1"]}
    assert schemas.published()["Part"]["properties"]["id"] == {"type": "string"}


def test_a_parameter_is_there_or_not_and_never_null() -> None:
    assert query_schema(operations[0])["properties"]["q"] == {"type": "string", "description": "Words."}
