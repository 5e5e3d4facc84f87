"""The sign-in of agents over the service of the tests, without the page."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from webapp.people import users
from webapp.people.agents import clients, grants
from webapp.people.agents.grants import Consent
from webapp.service.api.sign_in.wiring import register
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene

LetIn = Callable[[], tuple[str, str]]
VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
URI = "http://127.0.0.1/cb"


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
