"""The HTTP request against a server that says what it was asked."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, Response, jsonify, redirect
from flask.typing import ResponseReturnValue

from tests.fakes.provider_api import Api, serving
from tests.service.catalog.components.action_harness import ActionHarness
from webapp.service.components.executor import Executor


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    app = Flask("echo")

    @app.route("/json", methods=["GET", "POST", "PUT", "DELETE"])
    def as_json() -> ResponseReturnValue:
        return jsonify(fine=True)

    @app.get("/text")
    def as_text() -> ResponseReturnValue:
        return Response("<p>Grüße</p>", content_type="text/html; charset=utf-8")

    @app.get("/broken")
    def broken() -> ResponseReturnValue:
        return Response("{no json", content_type="application/json")

    @app.get("/missing")
    def missing() -> ResponseReturnValue:
        return Response("Not\nhere.", 404)

    @app.get("/inside")
    def inside() -> ResponseReturnValue:
        return redirect("http://169.254.169.254/latest/meta-data")

    with serving(app) as running:
        yield running


@pytest.fixture
def send(api: Api, runner: Executor) -> ActionHarness:
    return ActionHarness(runner, "http", "send-request", allow_hosts=(api.origin.removeprefix("http://"),))


def pair(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


def test_a_plain_get(api: Api, send: ActionHarness) -> None:
    params = [pair("a", "1 &"), pair("a", "2"), pair("", "left out")]
    request = {"url": f" {api.origin}/json ", "method": "get", "headers": [pair("X-One", "1")], "params": params}
    found, summary = send.ret(request=request)
    assert (found["status"], found["body"]) == (200, {"fine": True})
    assert found["headers"]["content-type"] == "application/json"
    assert api.last.query == {"a": ["1 &", "2"]}
    assert (api.last.headers["X-One"], "Authorization" in api.last.headers) == ("1", False)
    assert summary == f"GET {api.origin}/json answered with status 200"


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        ({"type": "basic", "username": "ada", "password": "pä:ss"}, "Basic YWRhOnDDpDpzcw=="),
        ({"type": "bearer", "token": "t0ken"}, "Bearer t0ken"),
        ({"type": "none"}, None),
        (None, None),
    ],
)
def test_authorization(api: Api, send: ActionHarness, auth: Any, header: str | None) -> None:
    send.ret(request={"url": f"{api.origin}/json", "method": "GET", "auth": auth})
    assert api.last.headers.get("Authorization") == header


@pytest.mark.parametrize(
    ("body", "content_type", "sent"),
    [
        ({"contentType": "application/json", "mode": "raw", "raw": '{"a": 1}'}, "application/json", b'{"a": 1}'),
        ({"contentType": "text/plain", "type": "raw", "raw": "ü"}, "text/plain", "ü".encode()),
        ({"mode": "fields", "fields": {"a": "1"}}, "application/json", b'{"a": "1"}'),
        ({"mode": "fields", "fields": [pair("a", "1")]}, "application/json", b'{"a": "1"}'),
        (
            {"contentType": "application/x-www-form-urlencoded", "type": "fields", "fields": {"a": "1 &"}},
            "application/x-www-form-urlencoded",
            b"a=1+%26",
        ),
        ({"raw": ""}, None, b""),
        (None, None, b""),
    ],
)
def test_bodies(api: Api, send: ActionHarness, body: Any, content_type: str | None, sent: bytes) -> None:
    send.ret(request={"url": f"{api.origin}/json", "method": "POST", "body": body})
    assert (api.last.headers.get("Content-Type"), api.last.body) == (content_type, sent)


def test_a_header_of_ones_own_wins(api: Api, send: ActionHarness) -> None:
    body = {"mode": "raw", "raw": "<a/>"}
    headers = [pair("content-type", "application/xml"), pair("X-A", "1"), pair("X-A", "2")]
    send.ret(request={"url": f"{api.origin}/json", "method": "PUT", "body": body, "headers": headers})
    assert (api.last.headers["Content-Type"], api.last.headers["X-A"]) == ("application/xml", "1, 2")


@pytest.mark.parametrize(("path", "body"), [("text", "<p>Grüße</p>"), ("broken", "{no json")])
def test_what_is_not_json_comes_as_text(api: Api, send: ActionHarness, path: str, body: str) -> None:
    assert send.ret(request={"url": f"{api.origin}/{path}", "method": "GET"})[0]["body"] == body


def test_an_error_status_fails_unless_told_otherwise(api: Api, send: ActionHarness) -> None:
    request = {"url": f"{api.origin}/missing", "method": "GET"}
    assert send.error(request=request) == "The server answered with status 404: Not here."
    assert send.ret(request=request, fail=False)[0]["status"] == 404


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:8081/", "not on the public internet"),
        ("http://169.254.169.254/", "not on the public internet"),
        ("file:///etc/passwd", "http"),
        ("/relative", "https://"),
        ("", "https://"),
    ],
)
def test_the_guard_stands_before_it(send: ActionHarness, url: str, said: str) -> None:
    assert said in send.error(request={"url": url, "method": "GET"})


def test_a_redirect_is_guarded_as_well(api: Api, send: ActionHarness) -> None:
    assert "not on the public internet" in send.error(request={"url": f"{api.origin}/inside", "method": "GET"})


def test_a_header_cannot_smuggle(api: Api, send: ActionHarness) -> None:
    headers = [pair("X-A", "1\r\nX-B: 2")]
    assert "line break" in send.error(request={"url": f"{api.origin}/json", "method": "GET", "headers": headers})
