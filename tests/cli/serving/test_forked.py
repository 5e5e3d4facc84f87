"""Work in a process of its own: its answer comes back, its refusal is one sentence, and its death is noticed."""

import os

import pytest

from webapp.cli.serving.forked import Failed, ask
from webapp.errors import Invalid


def test_the_answer_comes_from_another_process() -> None:
    answer = ask(lambda: {"pid": os.getpid(), "text": "ü"})
    assert answer["pid"] != os.getpid()
    assert answer["text"] == "ü"


def test_a_refusal_is_its_sentence() -> None:
    def refuse() -> dict[str, object]:
        raise Invalid("There is no key.")

    with pytest.raises(Failed, match=r"^There is no key\.$"):
        ask(refuse)


def test_a_child_that_dies_is_noticed() -> None:
    with pytest.raises(Failed, match="could not start"):
        ask(lambda: os._exit(1))
