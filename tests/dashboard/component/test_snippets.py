"""Snippets run as they stand: the shell and Python read back what was meant, whatever stands in the values."""

import ast
import json
import shlex
from typing import Any

import pytest

from webapp.dashboard.component.snippets import snippets

BODY = {"id": "a-b", "configured_props": {"title": 'It\'s "quoted" $HOME `x` \\n ü', "yes": True, "none": None}}


def test_each_language_says_the_same() -> None:
    found = dict(snippets("https://api.example.com/v1/connect/p/actions/run", "development", BODY))
    words = shlex.split(found["curl"])
    assert json.loads(words[words.index("--data") + 1]) == BODY
    assert "Authorization: Bearer $ACCESS_TOKEN" in words
    keywords = [node for node in ast.walk(ast.parse(found["Python"])) if isinstance(node, ast.keyword)]
    (call,) = [node for node in keywords if node.arg == "json"]
    assert ast.literal_eval(call.value) == BODY
    text = found["JavaScript"].split("JSON.stringify(")[1].split("),\n});")[0]
    assert json.loads(text) == BODY


@pytest.mark.parametrize(
    ("method", "body", "spelt"),
    [
        ("GET", None, "curl https://a.example/v1"),
        ("POST", {"a": 1}, "curl https://a.example/v1"),
        ("POST", None, "curl --request POST https://a.example/v1"),
        ("DELETE", None, "curl --request DELETE https://a.example/v1"),
        ("PUT", {}, "curl --request PUT https://a.example/v1"),
    ],
)
def test_each_method_with_and_without_a_body(method: str, body: dict[str, Any] | None, spelt: str) -> None:
    texts = dict(snippets("https://a.example/v1", "development", body, method))
    assert texts["curl"].startswith(f"{spelt} ") and ("--data" in texts["curl"]) is (body is not None)
    (call,) = [node for node in ast.walk(ast.parse(texts["Python"])) if isinstance(node, ast.Call) and node.keywords]
    assert ast.unparse(call.func) == f"requests.{method.lower()}"
    assert ("json" in {keyword.arg for keyword in call.keywords}) is (body is not None)
    assert f'method: "{method}"' in texts["JavaScript"] and ("body:" in texts["JavaScript"]) is (body is not None)
