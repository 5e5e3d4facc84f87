"""Where a client learns how to sign in (RFC 9728)."""

from dataclasses import replace
from typing import Any

from webapp.service.mcp import metadata


def test_without_a_token_a_client_learns_where_to_sign_in(world: Any) -> None:
    answer = world.http.post("/mcp", json={})
    address = f"{world.service.settings.public_url}/.well-known/oauth-protected-resource/mcp"
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, f'Bearer resource_metadata="{address}"')
    wrong = world.http.post("/mcp", json={}, headers={"Authorization": "Bearer nonsense"})
    assert wrong.status_code == 401 and 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        shown = world.http.get(path).get_json()
        assert shown["resource"] == f"{world.service.settings.public_url}/mcp"


def test_where_nobody_signs_in_no_server_is_named(world: Any) -> None:
    settings = world.service.settings
    home = settings.public_url
    assert metadata.resource(world.service)["authorization_servers"] == [f"{home}/mcp/oauth"]
    elsewhere = replace(world.service, settings=replace(settings, connect_url="https://connect.example"))
    assert "authorization_servers" not in metadata.resource(elsewhere)
