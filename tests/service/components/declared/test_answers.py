"""What a form's request is answered: JSON or XML, and neither where it is none."""

import pytest

from webapp.service.components.declared.answers import quietly, read
from webapp.service.components.declared.request_form import Listing, Request
from webapp.service.components.errors import HttpError
from webapp.service.components.http import HttpResponse

JSON, XML = Request.model_validate({"url": "/x"}), Request.model_validate({"url": "/x", "answer": "xml"})
LIST = Listing.model_validate({"url": "/x", "answer": "xml", "items": "a.b"})


def answered(body: bytes) -> HttpResponse:
    return HttpResponse(200, {}, body, "")


def test_json_and_xml_are_read_alike() -> None:
    assert read(JSON, answered(b'{"a": {"b": "1"}}')) == {"a": {"b": "1"}}
    assert read(XML, answered(b"<r><a><b>1</b></a></r>")) == {"a": {"b": "1"}}
    assert read(LIST, answered(b"<r><a><b>1</b></a></r>")) == {"a": {"b": ["1"]}}
    assert read(XML, answered(b"")) is None


def test_what_is_neither_is_told_or_nothing() -> None:
    with pytest.raises(HttpError):
        read(XML, answered(b"<r>"))
    assert quietly(XML, answered(b"<r>")) is None
    assert quietly(JSON, answered(b"<html>")) is None
