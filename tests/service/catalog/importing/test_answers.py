"""What an action says when it is done, and whether its answer is data or a file."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.openapi_documents import action
from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.components.declared.conftest import Desk
from webapp.service.components.calls import Reply

LIST = {"type": "array", "items": {}}


def answering(schema: Any, title: str = "List things", kind: str = "application/json") -> dict[str, Any]:
    return {"summary": title, "responses": {"200": {"content": {kind: {"schema": schema}}}}}


@pytest.mark.parametrize(
    ("operation", "summary"),
    [
        (answering(LIST), "Listed things: {$answer|count('item')}"),
        (answering({"properties": {"data": LIST, "warnings": LIST}}), "Listed things: {$answer.data|count('item')}"),
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


def test_an_answer_is_told_when_the_action_has_run(desk: Desk, call: Callable[..., Reply]) -> None:
    desk.on("GET /things", [1, 2])
    reply = call(action(answering(LIST)))
    assert (reply.value, reply.exports["$summary"]) == ([1, 2], "Listed things: 2 items")
    desk.on("GET /things", FakeAnswer(204))
    assert call(action({"summary": "Ping"})).value is None
