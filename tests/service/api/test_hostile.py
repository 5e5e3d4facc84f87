"""Hostile input: whatever is sent, the answer is JSON with a sentence, and never a 5xx."""

import json
from typing import Any

import pytest

from webapp.service.api.table import OPERATIONS

DEEP = 10_000
BODIES = [
    b"", b" ", b"{", b"}", b"[]", b"null", b"1", b'"x"', b"true", b"NaN", b"{'a': 1}", b'{"a": 1,}', b"\xff\xfe",
    b'{"external_user_id": "\xff"}', b'{"external_user_id": "\xed\xa0\x80"}', b'{"external_user_id": "a\x00b"}',
    b'{"external_user_id": "\\ud800"}', b'{"external_user_id": "\\u0000"}', b'{"x": "\\udfff"}',
    b'{"external_user_id": "a", "x\\u0000": 1}', b'{"external_user_id": "a", "x": [{"y": "\\u0000"}]}',
    b"[" * DEEP, b'{"a":' * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    b'{"external_user_id": "a", "x": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'\xef\xbb\xbf{"external_user_id": "a"}', b'{"expires_in": 1e999, "external_user_id": "a"}',
    b'{"expires_in": ' + b"9" * 5000 + b', "external_user_id": "a"}',
]  # fmt: skip
QUERIES = [
    "limit=0", "limit=101", "limit=-1", "limit=1.0", "limit=%2B5", "limit=1e1", "limit=x", "limit=٣", "limit=",
    "limit=9" * 40, "after=x", "before=x", "after=%FF", "after=%00", "q=%00", "after=AAAA", "before=bnVsbA",
    "after=W10", "after=W1tdXQ", "external_user_id=", "external_user_id=%00", "external_user_id=%0A",
    "external_user_id=" + "x" * 251, "include_credentials=1", "include_credentials=True", "extensions=yes",
    "has_actions=maybe", "sort_key=id", "sort_direction=up", "category_ids=x", "category_ids=appcat_a,b", "=", "&&&",
    "%", "%zz", "q=%ED%A0%80", "unknown=%FF",
]  # fmt: skip
LISTS = [operation for operation in OPERATIONS if operation.method == "GET" and not operation.public]


def is_told(answer: Any) -> bool:
    body = json.loads(answer.data)
    return answer.content_type == "application/json" and body["error"] and "Traceback" not in body["error"]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:24]))
def test_malformed_bodies(shared: Any, body: bytes) -> None:
    token = shared.server()
    for method, path in (("POST", "P/tokens"), ("POST", "P/accounts"), ("PATCH", f"P/accounts/{shared.plant().id}")):
        answer = shared.call(method, path, token, data=body, content_type="application/json")
        assert answer.status_code == 400 and is_told(answer)


@pytest.mark.parametrize("query", QUERIES)
def test_odd_queries_are_400_or_ignored(shared: Any, query: str) -> None:
    token = shared.server()
    for operation in LISTS:
        path = operation.path
        for placeholder in ("<account_id>", "<app>", "<category_id>", "<project_id>", "<path:external_user_id>"):
            path = path.replace(placeholder, "alice")
        answer = shared.get(path, token, query_string=query)
        assert answer.status_code in (200, 400, 404), (operation.name, answer.status_code)
        assert answer.status_code == 200 or is_told(answer)


@pytest.mark.parametrize(
    ("query", "field"),
    [("limit=0", "limit"), ("limit=101", "limit"), ("include_credentials=2", "include_credentials"),
     ("external_user_id=", "external_user_id"), ("extensions=on", "extensions"), ("after=x", "after or before")],
)  # fmt: skip
def test_a_bad_parameter_is_named(shared: Any, query: str, field: str) -> None:
    answer = shared.get("P/accounts", shared.server(), query_string=query)
    assert answer.status_code == 400
    assert [detail["field"] for detail in answer.json["details"]] == [field]


def test_a_query_that_is_not_utf8_is_refused(shared: Any) -> None:
    environ = {"QUERY_STRING": "q=\xff"}
    answer = shared.get("/v1/connect/apps", shared.server(), environ_overrides=environ)
    assert answer.status_code == 400 and is_told(answer)


@pytest.mark.parametrize(
    "segment", ["%00", "a%00b", "%FF", "%ED%A0%80", "..", "%2e%2e", "%0d%0aX: y", "x" * 5000, "🎉"]
)
def test_odd_paths(shared: Any, segment: str) -> None:
    token = shared.server()
    shapes = (
        "P/accounts/{}", "/v1/connect/apps/{}", "P/users/{}/accounts", "/v1/connect/{}/accounts", "/v1/{}",
        "/v1/connect/tokens/{}/validate",
    )  # fmt: skip
    for path in (shape.format(segment) for shape in shapes):
        answer = shared.get(path, token)
        assert answer.status_code in (200, 400, 404)
        assert answer.content_type == "application/json"
        assert "%00" not in path or answer.status_code in (400, 404)


def test_duplicate_keys_take_the_last_value(shared: Any) -> None:
    body = b'{"external_user_id": "", "external_user_id": "alice"}'
    answer = shared.post("P/tokens", shared.server(), data=body, content_type="application/json")
    assert answer.status_code == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"])
def test_other_content_types_are_415(shared: Any, kind: str | None) -> None:
    answer = shared.post("P/tokens", shared.server(), data=b'{"external_user_id": "alice"}', content_type=kind)
    assert answer.status_code == 415 and is_told(answer)


@pytest.mark.parametrize(("coding", "status"), [("identity", 200), ("Identity", 200), ("gzip", 415), ("br", 415)])
def test_a_compressed_body_is_refused_as_such(shared: Any, coding: str, status: int) -> None:
    sent: dict[str, Any] = {"json": {"external_user_id": "alice"}, "headers": {"Content-Encoding": coding}}
    answer = shared.post("P/tokens", shared.server(), **sent)
    assert answer.status_code == status
    if status == 415:
        assert is_told(answer) and "Content-Encoding" in answer.json["error"]


def test_a_charset_does_not_matter(shared: Any) -> None:
    kind = "application/json; charset=utf-8"
    answer = shared.post("P/tokens", shared.server(), data=b'{"external_user_id": "alice"}', content_type=kind)
    assert answer.status_code == 200


def test_ten_mebibytes_are_the_limit(shared: Any) -> None:
    token, start = shared.server(), b'{"external_user_id": "alice", "x": "'
    fits = start + b"x" * (10 * 1024 * 1024 - len(start) - 2) + b'"}'
    for body, status in ((fits, 200), (fits + b" ", 413)):
        answer = shared.post("P/tokens", token, data=body, content_type="application/json")
        assert answer.status_code == status
    assert is_told(answer)
    for path in ("/v1/oauth/token", "/v1/nothing/at/all"):
        more = shared.post(path, data=fits + b" ", content_type="application/json")
        assert more.status_code in (404, 413) and is_told(more)


def test_a_body_of_unknown_length_has_the_same_limit(shared: Any) -> None:
    class Endless:
        def read(self, size: int = -1) -> bytes:
            return b"[" * (65_536 if size < 0 else size)

    environ = {"wsgi.input": Endless(), "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    answer = shared.post("P/tokens", shared.server(), content_type="application/json", environ_overrides=environ)
    assert answer.status_code == 413 and is_told(answer)
