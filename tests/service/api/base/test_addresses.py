"""Double slashes collapse inside the application, for every path, never by a redirect."""

from typing import Any

import pytest
from werkzeug.test import create_environ

from webapp.service.api.base.addresses import collapse_slashes


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


@pytest.mark.parametrize(
    ("sent", "path", "seen"),
    [
        ("/v1//users/a%2F%2fb/accounts?x=//", "/v1//users/a//b/accounts", "/v1/users/a//b/accounts"),
        ("/v1/users/%2Fa", "/v1/users//a", "/v1/users//a"),
        ("/at/v1//x%2f", "/v1//x/", "/v1/x/"),  # below a prefix that the server took off
        ("/%2Fa.example/x", "//a.example/x", "/a.example/x"),  # no address of the API
        ("/%2Fv1/x", "//v1/x", "/v1/x"),
        ("/at/v1//x%2F%2Fy", "/v1//x//y", "/v1/x//y"),
        ("http://localhost/v1//x%2F", "/v1//x/", "/v1/x/"),
    ],
)
def test_an_encoded_slash_is_part_of_an_id(sent: str, path: str, seen: str) -> None:
    found: list[str] = []
    environ = create_environ() | {"PATH_INFO": path, "REQUEST_URI": sent}
    environ["SCRIPT_NAME"] = "/at" if sent.startswith("/at") else ""

    def remember(environ: dict[str, Any], _: object) -> list[bytes]:
        found.append(environ["PATH_INFO"])
        return []

    application = collapse_slashes(remember)
    application(environ, lambda *_: lambda _: None)
    assert found == [seen]


def test_users_with_slashes_in_their_ids_are_told_apart(world: Any) -> None:
    server = world.server()
    for user in ("a//b", "a/b"):
        world.plant(user)
    path = "P/users/a%2F%2Fb"
    assert [one["external_id"] for one in world.get(f"{path}/accounts", server).json] == ["a//b"]
    assert world.call("DELETE", path, server).status_code == 204
    assert world.call("DELETE", path, server).status_code == 404
    assert [one["external_id"] for one in world.get("P/users/a%2Fb/accounts", server).json] == ["a/b"]


def test_a_preflight_and_a_call_with_a_double_slash_are_answered_in_place(world: Any) -> None:
    token = world.frontend(allowed_origins=["https://a.example"])
    origin = {"Origin": "https://a.example"}
    preflight = world.call(
        "OPTIONS", "/v1/connect//accounts", headers={**origin, "Access-Control-Request-Method": "GET"}
    )
    assert preflight.status_code == 204
    answer = world.get("/v1/connect//accounts", token, headers=origin)
    assert answer.status_code == 200 and answer.json["data"] == []


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/pieces/look", "OPTIONS, POST"),
        ("/v1/pieces/pc_1", "DELETE, GET, HEAD, OPTIONS, PATCH"),
        ("/v1/users/me", "GET, HEAD, OPTIONS"),
        ("/v1/connect/projects/info", "GET, HEAD, OPTIONS"),
        ("/v1/connect/projects/proj_1", "DELETE, GET, HEAD, OPTIONS, PATCH"),
    ],
)
def test_a_word_in_the_place_of_an_id_has_its_own_methods_only(world: Any, path: str, methods: str) -> None:
    answer = world.call("OPTIONS", path, world.server())
    assert (answer.status_code, answer.headers["Allow"]) == (204, methods)
    other = world.call("PUT", path, world.server())
    assert (other.status_code, other.headers["Allow"]) == (405, methods)
