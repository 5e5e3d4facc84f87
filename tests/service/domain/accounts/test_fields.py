"""The custom fields of an app: trimmed, completed, refused with a sentence for each."""

import pytest

from webapp.errors import Invalid
from webapp.service.domain.accounts import fields
from webapp.service.domain.base.service import Service


def test_an_object_in_a_string() -> None:
    assert fields.parse_cfmap('{"a": "x", "b": 5, "c": null}') == {"a": "x", "b": "5", "c": ""}
    for text in ("", "[]", "nonsense", '{"a": {}}', '{"a": true}'):
        with pytest.raises(Invalid):
            fields.parse_cfmap(text)


def test_values_are_trimmed_and_what_is_missing_is_named(service: Service) -> None:
    app = service.app("tinykeys")
    assert fields.checked(app, {"api_key": "  k  ", "other": "x"}) == {"api_key": "k", "region": "eu"}
    for value in ("", "a\0b", "x" * 20_001):
        with pytest.raises(Invalid) as caught:
            fields.checked(app, {"api_key": value})
        assert [detail.field for detail in caught.value.details] == ["api_key"]


def test_a_secret_cannot_be_preset(service: Service) -> None:
    values, problems = fields.preset(service.app("tinykeys"), {"api_key": "k", "nothing": "x"})
    assert values == {} and {problem.field for problem in problems} == {"api_key", "nothing"}
