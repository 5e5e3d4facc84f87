"""OpenAI's actions, against a fake of its API written from https://platform.openai.com/docs/api-reference."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer

USAGE = {"input_tokens": 36, "output_tokens": 87, "total_tokens": 123}


@pytest.fixture
def openai(desk_of: Callable[..., AppHarness]) -> AppHarness:
    return desk_of("openai", api_key="sk-1")


def response(status: str = "completed", **more: Any) -> dict[str, Any]:
    """A Response object: reasoning comes beside the messages."""
    texts = [{"type": "output_text", "text": "Rust is ", "annotations": []}, {"type": "output_text", "text": "iron."}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": texts}]
    facts = {"id": "resp_1", "object": "response", "status": status, "model": "gpt-4.1-2025", "error": None}
    return {**facts, "incomplete_details": None, "output": output, "usage": USAGE, **more}


def test_models_are_chosen_by_name(openai: AppHarness) -> None:
    names = ["gpt-4.1", "text-embedding-3-small", "gpt-4.1-mini"]
    openai.on("GET /models", {"object": "list", "data": [{"id": name, "object": "model"} for name in names]})
    assert list(openai.options("create-response", "model")["found"]) == sorted(names)
    assert list(openai.options("create-response", "model", query="MINI")["found"]) == ["gpt-4.1-mini"]
    assert openai.options("create-response", "model", page=1)["found"] == {}


def test_the_answer_is_text(openai: AppHarness) -> None:
    openai.on("POST /responses", response())
    reply = openai.run("create-response", model="gpt-4.1", input="What is rust?", instructions="Be short.")
    assert openai.last.json == {"model": "gpt-4.1", "input": "What is rust?", "instructions": "Be short."}
    assert reply.value == {"id": "resp_1", "status": "completed", "text": "Rust is iron.", "usage": USAGE}
    assert reply.exports["text"] == "Rust is iron."
    assert reply.exports["$summary"] == "gpt-4.1-2025 answered with 3 words"


def test_a_short_answer_says_so(openai: AppHarness) -> None:
    openai.on("POST /responses", response("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    reply = openai.run("create-response", model="gpt-4.1", input="x", max_output_tokens=16)
    assert reply.value["status"] == "incomplete"
    assert [one.msg for one in reply.observations] == ["The answer is cut short: max_output_tokens"]


def test_a_failed_response_is_an_error(openai: AppHarness) -> None:
    error = {"code": "server_error", "message": "The model failed."}
    openai.on("POST /responses", response("failed", error=error, output=[]))
    assert openai.refuses("create-response", model="x", input="x") == "The model could not answer: The model failed."


def test_embeddings_keep_the_order_of_the_texts(openai: AppHarness) -> None:
    rows = [{"object": "embedding", "index": index, "embedding": [float(index)]} for index in (1, 11, 2, 0)]
    usage = {"prompt_tokens": 8, "total_tokens": 8}
    openai.on("POST /embeddings", {"object": "list", "data": rows, "model": "text-embedding-3-small", "usage": usage})
    reply = openai.run("create-embeddings", input=["a", "b"], dimensions=1)
    assert openai.last.json == {"model": "text-embedding-3-small", "input": ["a", "b"], "dimensions": 1}
    assert reply.value["embeddings"] == [[0.0], [1.0], [2.0], [11.0]]


def test_the_words_of_openai_reach_the_person(openai: AppHarness) -> None:
    message = "You exceeded your current quota, please check your plan and billing details."
    openai.on("POST /responses", FakeAnswer(429, {"error": {"message": message, "type": "insufficient_quota"}}))
    said = openai.refuses("create-response", model="x", input="x")
    assert said == f"The app answered with status 429: {message}"
