"""The addresses of an authorization server by its own metadata, and metadata that is not taken."""

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from webapp.service.outbound.discovery import discover
from webapp.service.outbound.outcomes import Failure

Serve = Callable[..., tuple[Any, Any]]


@pytest.fixture
def serve(peer: Any, reach: Any) -> Serve:
    """A server whose metadata stand at one path; ``{origin}`` in them is its own."""

    def start(path: str, metadata: Any, issuer: str = "{origin}") -> tuple[Any, Any]:
        def script(connection: socket.socket, request: bytes) -> None:
            text = json.dumps(metadata).replace("{origin}", target.url).encode()
            found = request.startswith(f"GET {path} ".encode())
            status = "200 OK" if found else "404 Not Found"
            connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)

        target = peer(script)
        return target, discover(reach(target), issuer.replace("{origin}", target.url))

    return start


def facts(**changes: Any) -> dict[str, Any]:
    endpoints = {"authorization_endpoint": "{origin}/auth", "token_endpoint": "{origin}/token"}
    return {"issuer": "{origin}", **endpoints, **changes}


def test_the_metadata_of_rfc_8414(serve: Serve) -> None:
    target, answer = serve("/.well-known/oauth-authorization-server", facts(revocation_endpoint="{origin}/revoke"))
    origin = target.url
    assert answer == {
        "authorize_url": f"{origin}/auth",
        "token_url": f"{origin}/token",
        "revoke_url": f"{origin}/revoke",
    }


@pytest.mark.parametrize(
    "path", ["/.well-known/oauth-authorization-server/tenant", "/tenant/.well-known/openid-configuration"]
)
def test_an_issuer_with_a_path(serve: Serve, path: str) -> None:
    target, answer = serve(path, facts(issuer="{origin}/tenant"), "{origin}/tenant")
    assert answer == {"authorize_url": f"{target.url}/auth", "token_url": f"{target.url}/token"}


@pytest.mark.parametrize(
    "metadata",
    [
        facts(issuer="https://other.example"),
        facts(token_endpoint=None),
        facts(authorization_endpoint="javascript:alert(1)"),
        facts(token_endpoint=7),
        [],
        "no",
    ],
)
def test_what_is_not_taken(serve: Serve, metadata: Any) -> None:
    _, answer = serve("/.well-known/openid-configuration", metadata)
    assert isinstance(answer, Failure)


def test_a_private_issuer_is_not_asked(reach: Any, connects: list[object]) -> None:
    assert isinstance(discover(reach(), "http://127.0.0.1:1/"), Failure)
    assert connects == []
