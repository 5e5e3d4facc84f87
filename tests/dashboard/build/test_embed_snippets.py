"""The code is filled in with a project's values, and with no secret."""

import json
import shlex

import pytest

from webapp.dashboard.build.embed_snippets import Facts, snippets
from webapp.dashboard.build.embed_state import WAYS

USER = """o'neil "x" $HOME `id` \\"""
FACTS = Facts(
    "https://connect.example", "proj_1", "production", {"external_user_id": USER, "app_id": "github"}, "github"
)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_has_its_code(way: str) -> None:
    texts = snippets(way, FACTS)
    assert texts and all("connect.example" in snippet.text or "proj_1" in snippet.text for snippet in texts)
    assert not [snippet.name for snippet in texts if "${" in snippet.text.replace("${access", "")]


def test_values_are_written_as_each_language_has_them() -> None:
    shell, python, script = (snippet.text for snippet in snippets("server", FACTS))
    words = shlex.split(shell.partition("\n\n")[2])
    assert json.loads(words[words.index("--data") + 1]) == FACTS.body
    compile(python, "server.py", "exec")
    assert repr(USER) in python and json.dumps(USER) in script


def test_without_an_app_the_user_chooses() -> None:
    (chosen,), (open_,) = snippets("window", FACTS), snippets("window", Facts("https://c.example", "p", "e", {}, ""))
    assert 'app: "github", mode' in chosen.text and "app:" not in open_.text
