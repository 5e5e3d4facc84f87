"""Anthropic's action, against a fake written from https://platform.claude.com/docs/en/api/overview."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer


@pytest.fixture
def anthropic(desk_of: Callable[..., AppHarness]) -> AppHarness:
    return desk_of("anthropic", api_key="sk-ant-1")


def test_models_come_page_by_page(anthropic: AppHarness) -> None:
    def models(asked: Asked) -> Any:
        n = 2 if asked.query.get("after_id") else 1
        one = {"type": "model", "id": f"model-{n}", "display_name": f"Model {n}"}
        return {"data": [one], "has_more": n == 1, "first_id": one["id"], "last_id": one["id"]}

    anthropic.on("GET /v1/models", models)
    first = anthropic.options("create-message", "model")
    assert first == {"found": {"Model 1": "model-1"}, "context": {"cursor": "model-1"}}
    second = anthropic.options("create-message", "model", page=1, previous=first["context"])
    assert second == {"found": {"Model 2": "model-2"}, "context": None}
    assert anthropic.options("create-message", "model", page=2)["found"] == {}


def test_a_prompt_is_answered(anthropic: AppHarness) -> None:
    content = [{"type": "text", "text": "Hello"}, {"type": "tool_use", "id": "1"}, {"type": "text", "text": " there"}]
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "model-1", "content": content}
    anthropic.on("POST /v1/messages", {**answer, "usage": {"input_tokens": 3, "output_tokens": 5}})
    reply = anthropic.run("create-message", model="model-1", prompt="Hi", system="Be brief.", max_tokens=50)
    assert anthropic.last.json == {
        "model": "model-1",
        "max_tokens": 50,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert anthropic.last.headers["anthropic-version"] == "2023-06-01"
    assert reply.exports == {"text": "Hello there", "$summary": "model-1 answered with 5 tokens"}


def test_what_anthropic_says_is_passed_on(anthropic: AppHarness) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    anthropic.on("POST /v1/messages", FakeAnswer(529, error))
    assert anthropic.refuses("create-message", model="m", prompt="Hi") == (
        "The app answered with status 529: Overloaded"
    )
