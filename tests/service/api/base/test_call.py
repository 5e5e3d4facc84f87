"""Reading bodies defensively, and what the answers to a call carry."""

from typing import Any

import pytest
from flask import Request
from werkzeug.test import EnvironBuilder

from webapp.errors import Invalid, UnsupportedMedia
from webapp.kit.cursors import Page
from webapp.service.api.base.call import answer_file, answer_image, answer_page, holds_nul, no_content, read_json


def request(body: bytes, content_type: str = "application/json") -> Request:
    return Request(EnvironBuilder(method="POST", data=body, content_type=content_type).get_environ())


def test_a_body_is_parsed_once() -> None:
    one = request(b'{"a": 1, "a": 2}')
    assert read_json(one) == {"a": 2}
    assert read_json(one) is read_json(one)


@pytest.mark.parametrize("body", [b"", b" ", b"[]", b"{", b'{"a": NaN}', b'{"a": "\\u0000"}', b'{"a": "\\ud800"}'])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid):
        read_json(request(body))


def test_another_media_type_is_refused() -> None:
    with pytest.raises(UnsupportedMedia):
        read_json(request(b"{}", "text/plain"))


@pytest.mark.parametrize(
    ("value", "holds"), [("a\0", True), ([{"a": ["\0"]}], True), ({"\0": 1}, True), ({"a": [1, None]}, False)]
)
def test_nul_is_found_wherever_it_stands(value: Any, holds: bool) -> None:
    assert holds_nul(value) is holds


def test_a_list_has_its_envelope() -> None:
    data = answer_page(Page([1, 2], 5, "s", "e"), str).get_json()
    info = {"count": 2, "total_count": 5, "start_cursor": "s", "end_cursor": "e"}
    assert data == {"data": ["1", "2"], "page_info": info}


def test_files_and_images_do_nothing_in_our_origin() -> None:
    file, image = answer_file(b"x", "grün.html", "text/html"), answer_image(b"x", "image/png")
    for response in (file, image):
        assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert file.headers["Content-Disposition"] == "attachment; filename=gr_n.html; filename*=UTF-8''gr%C3%BCn.html"
    assert "Content-Type" not in no_content().headers
