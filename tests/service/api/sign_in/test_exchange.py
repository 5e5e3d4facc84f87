"""Codes and tokens over HTTP: what works once, and what ends everything."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.service.api.sign_in.conftest import URI, VERIFIER
from webapp.errors import Unauthorized
from webapp.people import users
from webapp.service.api.sign_in.wiring import register
from webapp.service.domain.access import callers
from webapp.service.domain.agents import sessions, signed_in
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene

LetIn = Callable[[], tuple[str, str]]


def exchange(http: FlaskClient, client: str, secret: str, **changes: str) -> TestResponse:
    form = {
        "grant_type": "authorization_code",
        "client_id": client,
        "code": secret,
        "redirect_uri": URI,
        "code_verifier": VERIFIER,
        "resource": "http://localhost:8600/mcp",
    }
    return http.post("/mcp/oauth/token", data=form | changes)


def refresh(http: FlaskClient, client_id: str, token: str) -> TestResponse:
    form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}
    return http.post("/mcp/oauth/token", data=form)


def test_from_a_code_to_fresh_tokens(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    first = exchange(http, client_id, code)
    assert first.status_code == 200 and first.headers["Cache-Control"] == "no-store"
    assert (first.get_json()["token_type"], first.get_json()["expires_in"]) == ("Bearer", 3600)
    assert signed_in.recognise(service, first.get_json()["access_token"]).name == "Desk Helper"
    second = refresh(http, client_id, first.get_json()["refresh_token"])
    assert signed_in.recognise(service, second.get_json()["access_token"]).name == "Desk Helper"


def test_a_replayed_code_ends_what_it_gave(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    tokens = exchange(http, client_id, code).get_json()
    again = exchange(http, client_id, code)
    assert (again.status_code, again.get_json()["error"]) == (400, "invalid_grant")
    with pytest.raises(Unauthorized):
        signed_in.recognise(service, tokens["access_token"])
    assert refresh(http, client_id, tokens["refresh_token"]).get_json()["error"] == "invalid_grant"


def test_a_replayed_refresh_token_ends_everything(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    first = exchange(http, client_id, code).get_json()
    second = refresh(http, client_id, first["refresh_token"]).get_json()
    assert refresh(http, client_id, first["refresh_token"]).get_json()["error"] == "invalid_grant"
    with pytest.raises(Unauthorized):
        signed_in.recognise(service, second["access_token"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"redirect_uri": URI + "x"}, "invalid_grant"),
        ({"client_id": "agent_x"}, "invalid_grant"),
        ({"code": "mcpc_x"}, "invalid_grant"),
        ({"code": ""}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"client_id": "a\0"}, "invalid_request"),
    ],
)
def test_what_does_not_fit_gives_nothing(http: FlaskClient, let_in: LetIn, changes: dict[str, str], code: str) -> None:
    client_id, secret = let_in()
    answer = exchange(http, client_id, secret, **changes)
    assert (answer.status_code, answer.get_json()["error"]) == (400, code)
    assert exchange(http, client_id, secret).status_code == 200


def test_only_forms_are_read(http: FlaskClient) -> None:
    assert http.post("/mcp/oauth/token", json={"grant_type": "refresh_token"}).get_json()["error"] == "invalid_request"
    twice = http.post("/mcp/oauth/token", data={"grant_type": ["refresh_token", "refresh_token"]})
    assert twice.get_json()["error"] == "invalid_request"


def test_signing_out(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    token = exchange(http, client_id, code).get_json()["access_token"]
    for name in ("mcpa_unknown", token):
        answer = http.post("/mcp/oauth/revoke", data={"token": name, "client_id": client_id})
        assert (answer.status_code, answer.get_json()) == (200, {})
    with pytest.raises(Unauthorized):
        signed_in.recognise(service, token)


def test_an_agent_is_shown_at_once(service: Service, scene: Scene, http: FlaskClient, let_in: LetIn) -> None:
    token = exchange(http, *let_in()).get_json()["access_token"]
    agent = signed_in.recognise(service, token)
    (session,) = sessions.of_user(service.store, scene, agent.external_id)
    assert (session.name, session.kind) == ("Desk Helper", "person")
    sessions.end(service, external_users.get(service.store, scene, agent.external_id), session.id)
    with pytest.raises(Unauthorized):
        signed_in.recognise(service, token)


def test_who_may_not_sign_in_any_more_refreshes_nothing(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    tokens = exchange(http, client_id, code).get_json()
    other = let_in()
    ada = users.by_id(service.store, signed_in.recognise(service, tokens["access_token"]).external_id)
    assert ada is not None
    users.create(service.store, service.clock, email="bob@example.com", password="a long password", role="owner")
    with service.store.write() as tx:
        users.set_enabled(tx, service.clock(), ada, False)
    for answer in (refresh(http, client_id, tokens["refresh_token"]), exchange(http, *other)):
        assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_grant")


def test_where_too_many_came_in_nobody_more_does(service: Service, let_in: LetIn) -> None:
    quotas: Any = {**service.settings.quotas, "USER_AGENTS": 0}
    app = Flask("full")
    register(app, replace(service, settings=replace(service.settings, quotas=quotas)))
    refused = exchange(app.test_client(), *let_in())
    assert (refused.status_code, refused.get_json()["error"]) == (400, "access_denied")
    assert service.store.all("SELECT * FROM agent_tokens") == []


def test_its_tokens_open_no_other_door(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    tokens = exchange(http, *let_in()).get_json()
    for name in ("access_token", "refresh_token"):
        with pytest.raises(Unauthorized):
            callers.authenticate(service, tokens[name])
    with pytest.raises(Unauthorized):
        signed_in.recognise(service, tokens["refresh_token"])
