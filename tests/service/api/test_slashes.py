"""Double slashes collapse inside the application, for every path, never by a redirect."""

from typing import Any

import pytest
from werkzeug.test import create_environ

from webapp.service.api.slashes import collapse_slashes


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/v1/connect//accounts", "/v1/connect/accounts"),
        ("//v1///connect/accounts//", "/v1/connect/accounts/"),
        ("/plain", "/plain"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_what_the_application_sees(path: str, seen: str) -> None:
    found: list[tuple[str, str]] = []

    def application(environ: Any, start_response: Any) -> list[bytes]:
        found.append((environ["PATH_INFO"], environ["QUERY_STRING"]))
        return []

    environ = create_environ()
    environ["PATH_INFO"], environ["QUERY_STRING"] = path, "url=https://a.example//b"
    collapse_slashes(application)(environ, lambda *_: lambda _: None)
    assert found == [(seen, "url=https://a.example//b")]


def test_a_preflight_and_a_call_with_a_double_slash_are_answered_in_place(world: Any) -> None:
    token = world.frontend(allowed_origins=["https://a.example"])
    origin = {"Origin": "https://a.example"}
    preflight = world.call(
        "OPTIONS", "/v1/connect//accounts", headers={**origin, "Access-Control-Request-Method": "GET"}
    )
    assert preflight.status_code == 204
    answer = world.get("/v1/connect//accounts", token, headers=origin)
    assert answer.status_code == 200 and answer.json["data"] == []
