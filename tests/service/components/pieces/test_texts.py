"""Texts of pieces without their markup."""

import time

import pytest

from webapp.service.components.pieces import texts


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Note**: use _this_ and `that`.", "Note: use this and that."),
        ("# Set up\n\n1. Open [My apps](https://acme.example/apps).\n", "Set up\n\n1. Open My apps (https://acme.example/apps)."),
        ("[https://acme.example](https://acme.example)", "https://acme.example"),
        ('[Help](https://acme.example/h "Title") ![logo](x.png) it', "Help (https://acme.example/h) logo it"),
        ("one\n\n---\n\n* * *\ntwo", "one\n\ntwo"),
        ("one<br>two <b>three</b>", "one\ntwo three"),
        ("```text\n{{webhookUrl}}\n```", "(the address that its page shows once it is deployed)"),
        ("snake_case_name and 2 * 3 * 4 stay", "snake_case_name and 2 * 3 * 4 stay"),
        ("a\x00b\u200b", "ab"),
        ("**Note:** At most {{pausedFlowTimeoutDays}} days.", ""),
        ("Waits. A step takes {{pausedFlowTimeoutDays}} days at most. Then it goes on.", "Waits. Then it goes on."),
        (None, ""),
    ],
)  # fmt: skip
def test_what_people_read_has_no_marks(text: object, plain: str) -> None:
    assert texts.plain(text) == plain


@pytest.mark.parametrize(
    "part",
    [
        "[a](",
        "[a](x ",
        "[",
        "![",
        "**a ",
        "__a ",
        "*a ",
        "<a",
        "```a\n",
        "`a\n",
        "\n        ",
        "\n",
        "- ",
        "-",
        " ",
        "{{ ",
    ],
)
def test_no_text_takes_long_to_read(part: str) -> None:
    began = time.process_time()
    texts.plain(part * (4 * texts.MOST // len(part)) + "x")
    assert time.process_time() - began < 0.5


def test_a_sentence_ends_and_a_line_is_one() -> None:
    assert texts.sentence(" Adds\n a task ") == "Adds a task."
    assert texts.sentence("Done!") == "Done!"
    assert texts.ended("タスクを追加") == "タスクを追加。"
    assert texts.line("x" * 2000, 10) == "x" * 9 + "…"
    assert (texts.label("customerId"), texts.label("_")) == ("Customer id", "Value")
