"""Work in a process of its own: its answer comes back, its refusal is one sentence, and its death is noticed."""

import os

import pytest

from webapp.cli.serving.forked import Failed, begin
from webapp.errors import Invalid


def test_the_answer_comes_from_another_process() -> None:
    answer = begin(lambda: {"pid": os.getpid(), "text": "ü"}).result()
    assert answer["pid"] != os.getpid()
    assert answer["text"] == "ü"


def test_a_refusal_is_its_sentence() -> None:
    def refuse() -> dict[str, object]:
        raise Invalid("There is no key.")

    with pytest.raises(Failed, match=r"^There is no key\.$"):
        begin(refuse).result()


def test_a_child_that_dies_is_noticed() -> None:
    with pytest.raises(Failed, match="could not start"):
        begin(lambda: os._exit(1)).result()
