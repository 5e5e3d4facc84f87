"""A page of the Connect Link for the holder of a Connect token, who may connect several accounts one after another."""

from typing import Any

import pytest

PATH = "P/link_sessions"


@pytest.fixture
def body(shared: Any) -> dict[str, Any]:
    public = shared.service.settings.public_url
    return {"success_redirect_uri": f"{public}/done?a=1", "error_redirect_uri": f"{public}/back", "app": "tinykeys"}


def test_the_token_itself_makes_one(shared: Any, body: dict[str, Any]) -> None:
    token = shared.frontend(scope="connect:accounts:write")
    answer = shared.post(PATH, token, json=body)
    assert answer.status_code == 200 and set(answer.json) == {"url", "expires_at"}
    assert answer.json["url"].startswith(f"{shared.service.settings.public_url}/_static/connect/ls_")
    assert token not in answer.text


def test_a_server_names_the_user_by_a_token(shared: Any, body: dict[str, Any]) -> None:
    server = shared.server()
    assert shared.post(PATH, server, json={**body, "connect_token": shared.frontend()}).status_code == 200
    refused = shared.post(PATH, server, json=body)
    assert refused.status_code == 400 and refused.json["details"][0]["field"] == "connect_token"


def test_nobody_else_is_named(shared: Any, body: dict[str, Any]) -> None:
    other = {**body, "connect_token": shared.frontend("bob")}
    assert shared.post(PATH, shared.frontend(), json=other).status_code == 403


def test_a_token_that_may_only_read_makes_none(shared: Any, body: dict[str, Any]) -> None:
    assert shared.post(PATH, shared.frontend(scope="connect:accounts:read"), json=body).status_code == 403


@pytest.mark.parametrize(
    "uri", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/apps", "{public}.evil.example/", "[",
            "{public}@evil.example/", "{public}/\\x", "{public}/\n"],
)  # fmt: skip
def test_it_leads_nowhere_but_back_to_us(shared: Any, body: dict[str, Any], uri: str) -> None:
    token = shared.frontend()
    for name in ("success_redirect_uri", "error_redirect_uri"):
        wrong = {**body, name: uri.format(public=shared.service.settings.public_url)}
        answer = shared.post(PATH, token, json=wrong)
        assert answer.status_code == 400 and answer.json["details"][0]["field"] == name
