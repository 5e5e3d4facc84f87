"""``${name}`` is filled, also inside JSON, and told apart from ``{field}``."""

import json

import pytest

from webapp.service.catalog.variables import expand, expand_json, fill, names


def test_names() -> None:
    assert names("${a}/{b}/${c_d} $e ${}") == {"a", "c_d"}


def test_expand() -> None:
    assert expand("${a}/x/{b}", {"a": "https://a.example"}) == "https://a.example/x/{b}"
    with pytest.raises(KeyError):
        expand("${a}", {})


def test_expand_json_cannot_leave_its_string() -> None:
    text = json.dumps({"url": "${a}/x"})
    assert json.loads(expand_json(text, {"a": '"},{"\\\n'})) == {"url": '"},{"\\\n/x'}


def test_fill_leaves_what_is_not_given() -> None:
    assert fill("${sandbox}/ and ${other}", {"sandbox": "http://s"}) == "http://s/ and ${other}"
