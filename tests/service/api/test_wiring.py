"""The Connect API on an application: its own addresses answer JSON, those of others are left alone."""

from typing import Any

import pytest


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "FOO", "TRACE", "PROPFIND"])
def test_other_methods_are_405_and_told_what_works(shared: Any, method: str) -> None:
    answer = shared.call(method, "/v1/connect/apps", shared.server())
    assert answer.status_code == 405 and answer.content_type == "application/json"
    assert answer.json == {"error": "This address answers only GET, HEAD, OPTIONS."}
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/connect/accounts/", "/v1/connect", "/v1/oauth"])
def test_unknown_addresses_are_404_without_a_redirect(shared: Any, path: str) -> None:
    for method in ("GET", "POST", "FOO"):
        answer = shared.call(method, path, shared.frontend())
        assert answer.status_code == 404 and answer.content_type == "application/json"
        assert answer.json == {"error": "There is nothing at this address; check its path."}
        assert "Location" not in answer.headers


def test_paths_outside_v1_are_not_touched(shared: Any) -> None:
    answer = shared.http.get("/v1x")
    assert answer.status_code == 404 and answer.mimetype == "text/html"
    assert "X-Request-Id" not in answer.headers


def test_a_head_request_has_no_body(shared: Any) -> None:
    answer = shared.call("HEAD", "/v1/connect/apps", shared.server())
    assert answer.status_code == 200 and answer.data == b""
