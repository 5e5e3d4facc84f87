"""Templates: holes, paths, filters and braces; nothing else.

JSON whose texts are templates: with what comes to nothing left out, or null.
"""

from typing import Any

import pytest

from webapp.service.components.declared.templates import TemplateMistake, fill, parse, shape, texts_in

SCOPE: dict[str, Any] = {
    "title": "Tea",
    "tags": ["a", "b"],
    "none": None,
    "blank": "",
    "$answer": {"@next": "/2", "rows": [{"id": 7}], "ok": True},
}
SCOPE_FILLING: dict[str, Any] = {"title": "Tea", "none": None, "blank": "", "list": [], "no": False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{title}", "Tea"),
        ("{tags}", ["a", "b"]),
        ("{ tags.1 }", "b"),
        ("{$answer.rows.0.id}", 7),
        ('{$answer."@next"}', "/2"),
        ("{$answer.rows.4.id}", None),
        ("{unknown.a.b}", None),
        ("is:{title} {$answer.ok} {$answer.rows.0.id}", "is:Tea true 7"),
        ("is:{none}", None),
        ("is:{blank}", None),
        ("is:{blank|or('')}", "is:"),
        ('{title|replace("T", "\'")}', "'ea"),
        ("{{{title}}} = {{}}", "{Tea} = {}"),
        ("{tags|join(' | ')|lower}", "a | b"),
        ("{none|or($answer.missing, title)}", "Tea"),
        ("{title|cut(1)}", "T"),
        ("{title|replace('Te', '{')}", "{a"),
    ],
)
def test_what_a_template_comes_to(text: str, value: Any) -> None:
    assert parse(text).value(SCOPE) == value


def test_as_text_a_hole_without_a_value_is_empty() -> None:
    assert parse("{title}: {none}, {tags}").text(SCOPE) == 'Tea: , ["a","b"]'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{title", "a brace without its partner"),
        ("title}", "a brace without its partner"),
        ("{}", "must begin with the name of a prop"),
        ("{1 + 1}", "must begin with the name of a prop"),
        ("{title.upper()}", "cannot be read"),
        ("{title|shout}", "there is no filter shout"),
        ("{title|cut}", "takes 1 to 1 arguments"),
        ("{title|cut(}", "arguments in"),
        ("{title|}", "cannot be read"),
        ("{__import__('os')}", "cannot be read"),
    ],
)
def test_what_is_no_template(text: str, sentence: str) -> None:
    with pytest.raises(TemplateMistake, match=sentence.replace("{", "\\{")):
        parse(text)


def test_the_names_that_a_template_looks_at() -> None:
    assert list(parse("{a.b|or(c, 'd')} {$e}").roots) == ["a", "c", "$e"]


def test_every_text_of_json() -> None:
    assert list(texts_in({"a": "x", "b": [1, "y", {"c": "z"}], "d": None})) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ({"a": "{title}", "b": "{none}", "c": "{blank}", "d": "{no}", "e": 0}, {"a": "Tea", "d": False, "e": 0}),
        ({"a": {"b": {"c": "{none}"}}, "d": 1}, {"d": 1}),
        ({"a": "", "b": {}, "c": [], "d": None}, {"a": "", "b": {}, "c": [], "d": None}),
        ({"a": "{list}"}, {"a": []}),
        (["{title}", "{none}", "is:{blank}"], ["Tea"]),
        ({"a": ["{none}"]}, None),
        ("{none}", None),
        (3, 3),
    ],
)
def test_what_comes_to_nothing_is_left_out(written: Any, filled: Any) -> None:
    assert fill(written, SCOPE_FILLING) == filled


def test_a_result_keeps_its_shape() -> None:
    assert shape({"a": "{none}", "b": ["{title}", "{none}"], "c": 1}, SCOPE_FILLING) == {
        "a": None,
        "b": ["Tea", None],
        "c": 1,
    }
