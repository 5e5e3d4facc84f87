"""Agents make themselves known, so many an hour from one address."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from webapp.service.api.sign_in.wiring import register
from webapp.service.domain.base.service import Service

Ask = Callable[..., TestResponse]


def test_an_agent_gets_an_id_and_no_secret(ask_for_client: Ask) -> None:
    answer = ask_for_client(token_endpoint_auth_method="client_secret_basic", client_uri="https://x.example")
    assert answer.status_code == 201 and answer.headers["Cache-Control"] == "no-store"
    assert answer.get_json()["client_id"].startswith("agent_") and "client_secret" not in answer.get_json()
    assert answer.get_json()["token_endpoint_auth_method"] == "none"
    assert answer.get_json()["redirect_uris"] == ["http://127.0.0.1/cb"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": [1]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:/alert(1)"]}, "invalid_redirect_uri"),
        ({"client_name": 1}, "invalid_client_metadata"),
        ({"client_name": "\0"}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"response_types": "code"}, "invalid_client_metadata"),
    ],
)
def test_what_cannot_be_let_in_is_refused(ask_for_client: Ask, changes: dict[str, Any], code: str) -> None:
    answer = ask_for_client(**changes)
    assert (answer.status_code, answer.get_json()["error"]) == (400, code)


def test_a_body_that_is_none_or_too_large_is_refused(http: FlaskClient) -> None:
    for body in (b"", b"[]", b"{" + b" " * 40_000 + b"}"):
        answer = http.post("/mcp/oauth/register", data=body, content_type="application/json")
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_client_metadata")


def test_one_address_registers_so_many_an_hour(service: Service) -> None:
    quotas: Any = {**service.settings.quotas, "AGENT_REGISTRATIONS": 1}
    app = Flask("limited")
    register(app, replace(service, settings=replace(service.settings, quotas=quotas)))
    body = {"redirect_uris": ["https://agent.example/cb"]}
    assert app.test_client().post("/mcp/oauth/register", json=body).status_code == 201
    refused = app.test_client().post("/mcp/oauth/register", json=body)
    assert refused.status_code == 429 and int(refused.headers["Retry-After"]) > 0
    elsewhere = app.test_client().post("/mcp/oauth/register", json=body, environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert elsewhere.status_code == 201
