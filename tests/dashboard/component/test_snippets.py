"""Snippets run as they stand: the shell and Python read back what was meant, whatever stands in the values."""

import ast
import json
import shlex

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
