"""An agent of Alice's, and a call that it sends."""

from collections.abc import Callable

import pytest

from webapp.people import users
from webapp.people.agents import clients, grants, tokens
from webapp.people.agents.grants import Consent
from webapp.people.users import User
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import AgentSession, Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.projects.projects import Environment, Scene


@pytest.fixture
def agent(service: Service, scene: Scene) -> AgentSession:
    """The agent, which came in by a Connect token."""
    return sessions.enter(service, scene, "alice", Entry("token", "oa_1", "agents-token"), "Desk Helper")


@pytest.fixture
def call(service: Service, scene: Scene) -> Callable[..., ComponentRequest]:
    """A call of the action that fails, with its secret."""

    def make(**configured: object) -> ComponentRequest:
        values = {"token": "canary-token", **configured}
        return ComponentRequest(
            scene, "alice", component_requests.find(service, "~/fail", None), values, agent="Desk Helper"
        )

    return make


VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"


@pytest.fixture
def ada(service: Service) -> User:
    """An owner, beside another."""
    users.create(service.store, service.clock, email="bob@example.com", password="a long password", role="owner")
    return users.create(service.store, service.clock, email="ada@example.com", password="a long password", role="owner")


@pytest.fixture
def sign_in(service: Service, scene: Scene, ada: User) -> Callable[..., str]:
    """Lets an agent in for Ada; its access token."""

    def begin(environment: Environment = "development") -> str:
        store, now = service.store, service.clock()
        client = clients.register(store, service.clock, name="Desk Helper", redirect_uris=("http://localhost/",))
        code = grants.begin(
            store, now, Consent(client, ada.id, scene.project_id, environment, "http://localhost/", CHALLENGE)
        )
        pair = tokens.exchange_code(store, now, code=code, client_id=client.id, redirect_uri=None, verifier=VERIFIER)
        assert pair is not None
        return pair.access

    return begin
