"""A request as it stood on the wire: the whole address, repeated headers, bytes that are mostly UTF-8."""

from flask import Request
from werkzeug.test import EnvironBuilder

from webapp.service.inbound import reading


def test_a_request_is_read_as_it_came() -> None:
    builder = EnvironBuilder("/h/key/a b", method="PUT", query_string="x=1&x=2", data=b"\xff{}")
    builder.headers.add("X-Name", "é".encode().decode("latin-1"))
    request = reading.read(Request(builder.get_environ()), "https://p.example/h/key", "a b", 5)
    assert (request.method, request.path, request.body, request.at) == ("PUT", "/a b", b"\xff{}", 5)
    assert request.url == "https://p.example/h/key/a%20b?x=1&x=2"
    assert request.query == (("x", "1"), ("x", "2"))
    assert ("X-Name", "é") in request.headers
