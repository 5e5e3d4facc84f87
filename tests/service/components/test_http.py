"""What a component's client makes of its arguments and of an answer."""

import pytest

from webapp.service.components.errors import HttpError
from webapp.service.components.http import Http, HttpRequest, HttpResponse
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response


class Echo(Http):
    """Remembers the request and gives one answer."""

    def exchange(self, request: HttpRequest) -> Response | Failure:
        self.request_made = request
        return Response(200, {}, b"{}", request.url)


def test_arguments_become_one_request() -> None:
    http = Echo()
    http.post("/x", params={"a": 1, "no": None, "many": ["x", True]}, data={"f": [1, 2], "g": None}, max_bytes=5)
    request = http.request_made
    assert request.params == (("a", "1"), ("many", "x"), ("many", "true"))
    assert (request.form, request.body, request.max_bytes) == ({"f": ("1", "2"), "g": ()}, None, 5)
    http.put("/x", json={"a": [None]}, data={"left": "out"})
    assert (http.request_made.body, http.request_made.is_json, http.request_made.form) == (b'{"a":[null]}', True, None)


def test_an_answer_reads_itself() -> None:
    assert HttpResponse(204, {}, b"", "").json() is None
    assert HttpResponse(200, {}, b"\xff", "").text == "\ufffd"
    with pytest.raises(HttpError, match="web page instead of JSON"):
        HttpResponse(200, {}, b"<html>", "").json()
