"""Expressions that authors write: none takes long, whatever the text."""

import pytest

from webapp.service.components.declared.patterns import LONGEST, Pattern, problem


@pytest.mark.parametrize(
    "text", ["(a+)+b", "((a+))*", "(a|a)*", "(a?){20}", "(a{1,9}){2}", "(?P<a>b*)+", "(?:a+?)++", "a{99999999999}", "("]
)
def test_one_that_could_take_forever_or_is_none(text: str) -> None:
    assert problem(text)


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        (r"[^/\s]+/[^/\s]+", "a/b"), ("[0-9]+(?:-[0-9]+)?", "1-2"), ("([a-f]{2}){3}", "abcdef"), ("[+*(]+", "(+*"),
        (r"\(+\)+", "(())"), ("(?=a+)a(b|c)", "ab"), ("[]+]*", "]+]"),
    ],
)  # fmt: skip
def test_one_that_takes_no_time(text: str, fitting: str) -> None:
    assert problem(text) is None
    assert Pattern(text).fullmatch(fitting) and not Pattern(text).fullmatch(f" {fitting}")


def test_a_long_text_never_fits() -> None:
    assert Pattern("a+").fullmatch("a" * LONGEST)
    assert not Pattern("a+").fullmatch("a" * (LONGEST + 1))
