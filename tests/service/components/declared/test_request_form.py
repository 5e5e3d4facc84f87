"""The models of requests: one body, and pages that say how the next is asked for."""

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.components.declared.request_form import Kind, Listing, Pages, Request


@pytest.mark.parametrize(
    "fields",
    [
        {"by": "page"},
        {"by": "cursor", "param": "c"},
        {"by": "url"},
        {"by": "link", "cap": 0},
        {"by": "link", "size": 0},
        {"by": "link", "most": "{unknown}"},
        {"by": "guess"},
    ],
)
def test_pages_that_could_not_be_read(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Pages.model_validate(fields, context={"props": []})


@pytest.mark.parametrize("body", [{"json": {}, "form": {}}, {"text": "a", "file": "b"}])
def test_a_request_has_one_body(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="one body"):
        Request.model_validate({"method": "POST", "url": "/a", **body})


@pytest.mark.parametrize("name", ["Host", "content-length", "a b", ""])
def test_a_header_that_cannot_be_sent(name: str) -> None:
    Request.model_validate({"url": "/a", "headers": {"X-Kind": "note"}})
    with pytest.raises(ValidationError, match="header"):
        Request.model_validate({"url": "/a", "headers": {name: "note"}})


@pytest.mark.parametrize(
    ("place", "fields"),
    [("json", {}), ("json", {"method": "POST", "form": {}}), ("form", {"method": "POST"}), ("form", {"method": "GET"})],
)
def test_pages_need_the_body_that_they_are_asked_for_in(place: str, fields: dict[str, Any]) -> None:
    pages = {"by": "page", "param": "page", "place": place}
    with pytest.raises(ValidationError, match=f'place = "{place}" need'):
        Listing.model_validate({"url": "/a", "pages": pages, **fields})
    Listing.model_validate({"url": "/a", "method": "POST", "pages": pages, **({"form": {}} if place == "form" else {})})


def test_a_kind_has_a_type_of_props() -> None:
    assert Kind(type="integer").type == "integer"
    with pytest.raises(ValidationError, match="'string'"):
        Kind.model_validate({"type": "strnig"})
