"""What authorization servers read about this installation, at the address that is its client id there."""

from typing import Any

import pytest

from webapp.service.domain.accounts import registered_clients

HOME = "http://localhost:8600"


@pytest.mark.parametrize("server", ["", "/auth.example.com", "/127.0.0.1"])
def test_each_server_reads_its_own_redirect_uri_only(browser: Any, server: str) -> None:
    answer = browser.get(f"{registered_clients.DOCUMENT}{server}")
    assert (answer.status_code, answer.content_type) == (200, "application/json")
    document = answer.get_json()
    assert document["client_id"] == f"{HOME}/.well-known/oauth-client{server}"
    assert document["redirect_uris"] == [f"{HOME}/connect/oauth/callback{server}"]
    assert document["token_endpoint_auth_method"] == "none"
    assert document["grant_types"] == ["authorization_code", "refresh_token"]
    assert "client_secret" not in document


@pytest.mark.parametrize("server", ["EVIL", "a b", "-x", "%22", "a/b", "a" * 300])
def test_there_is_none_for_what_is_no_host(browser: Any, server: str) -> None:
    assert browser.get(f"{registered_clients.DOCUMENT}/{server}").status_code == 404
