"""How agents sign in, over the service of the tests and without the page: metadata, registration, codes and tokens."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from webapp import body_limits
from webapp.errors import Unauthorized
from webapp.people import users
from webapp.people.agents import clients, grants
from webapp.people.agents.grants import Consent
from webapp.service.api.agent_sign_in import register
from webapp.service.domain.access import callers
from webapp.service.domain.agents import sessions, sign_ins
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene

LetIn = Callable[[], tuple[str, str]]
VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
URI = "http://127.0.0.1/cb"
PATHS = (
    "/.well-known/oauth-authorization-server/mcp/oauth",
    "/.well-known/oauth-authorization-server",
    "/mcp/oauth/.well-known/oauth-authorization-server",
)
Ask = Callable[..., TestResponse]


@pytest.fixture
def http(service: Service) -> FlaskClient:
    """What asks."""
    app = Flask("sign_in_tests")
    register(app, service)
    return app.test_client()


@pytest.fixture
def ask_for_client(http: FlaskClient) -> Callable[..., TestResponse]:
    """Registers an agent."""

    def send(**changes: Any) -> TestResponse:
        return http.post("/mcp/oauth/register", json={"client_name": "Desk Helper", "redirect_uris": [URI]} | changes)

    return send


@pytest.fixture
def let_in(service: Service, scene: Scene, ask_for_client: Callable[..., TestResponse]) -> LetIn:
    """Lets a fresh agent in for Ada; its id and code."""
    ada = users.create(service.store, service.clock, email="ada@example.com", password="a long password", role="owner")

    def begin() -> tuple[str, str]:
        client = clients.find(service.store, ask_for_client().get_json()["client_id"])
        assert client is not None
        consent = Consent(client, ada.id, scene.project_id, scene.environment, URI, CHALLENGE)
        return client.id, grants.begin(service.store, service.clock(), consent)

    return begin


@pytest.mark.parametrize("path", PATHS)
def test_the_metadata_is_what_the_standard_asks_for(service: Service, http: FlaskClient, path: str) -> None:
    shown = http.get(path).get_json()
    assert shown["issuer"] == f"{service.settings.public_url}/mcp/oauth"
    assert shown["code_challenge_methods_supported"] == ["S256"]
    over_tls = {  # on this machine there is none
        name: value.replace("http:", "https:") if isinstance(value, str) else value for name, value in shown.items()
    }
    AuthorizationServerMetadata(over_tls).validate()


def test_people_of_another_service_do_not_sign_in_here(service: Service) -> None:
    app = Flask("elsewhere")
    settings = replace(service.settings, connect_url="https://connect.example.com")
    register(app, replace(service, settings=settings))
    assert app.test_client().get(PATHS[0]).status_code == 404
    assert app.test_client().post("/mcp/oauth/register", json={}).status_code == 404


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
    for body in (b"", b"[]", b"{" + b" " * body_limits.AGENT_REGISTRATION + b"}"):
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
    assert sign_ins.recognise(service, first.get_json()["access_token"]).name == "Desk Helper"
    second = refresh(http, client_id, first.get_json()["refresh_token"])
    assert sign_ins.recognise(service, second.get_json()["access_token"]).name == "Desk Helper"


def test_a_replayed_code_ends_what_it_gave(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    tokens = exchange(http, client_id, code).get_json()
    again = exchange(http, client_id, code)
    assert (again.status_code, again.get_json()["error"]) == (400, "invalid_grant")
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, tokens["access_token"])
    assert refresh(http, client_id, tokens["refresh_token"]).get_json()["error"] == "invalid_grant"


def test_a_replayed_refresh_token_ends_everything(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    first = exchange(http, client_id, code).get_json()
    second = refresh(http, client_id, first["refresh_token"]).get_json()
    assert refresh(http, client_id, first["refresh_token"]).get_json()["error"] == "invalid_grant"
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, second["access_token"])


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
        sign_ins.recognise(service, token)


def test_an_agent_is_shown_at_once(service: Service, scene: Scene, http: FlaskClient, let_in: LetIn) -> None:
    token = exchange(http, *let_in()).get_json()["access_token"]
    agent = sign_ins.recognise(service, token)
    (session,) = sessions.of_user(service.store, scene, agent.external_id)
    assert (session.name, session.kind) == ("Desk Helper", "person")
    sessions.end(service, external_users.get(service.store, scene, agent.external_id), session.id)
    with pytest.raises(Unauthorized):
        sign_ins.recognise(service, token)


def test_who_may_not_sign_in_any_more_refreshes_nothing(service: Service, http: FlaskClient, let_in: LetIn) -> None:
    client_id, code = let_in()
    tokens = exchange(http, client_id, code).get_json()
    other = let_in()
    ada = users.by_id(service.store, sign_ins.recognise(service, tokens["access_token"]).external_id)
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
        sign_ins.recognise(service, tokens["refresh_token"])


def test_a_wrong_method_is_answered_as_json(http: FlaskClient) -> None:
    assert http.get("/mcp/oauth/register").status_code == 405
    answer = http.post("/mcp/oauth/token")
    assert answer.get_json()["error"] == "invalid_request" and answer.headers["Cache-Control"] == "no-store"


def test_pages_of_any_origin_sign_their_people_in(http: FlaskClient) -> None:
    origin = {"Origin": "https://agent.example"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for path in ("register", "token", "revoke"):
        allowed = http.options(f"/mcp/oauth/{path}", headers={**origin, **asked})
        refused = http.post(f"/mcp/oauth/{path}", headers=origin)
        for answer, status in ((allowed, 204), (refused, 400)):
            assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (status, origin["Origin"])
            assert "Access-Control-Allow-Credentials" not in answer.headers
    nowhere = http.get("/.well-known/oauth-authorization-server", headers={"Origin": "null"})
    assert nowhere.status_code == 200 and "Access-Control-Allow-Origin" not in nowhere.headers
