"""A person, a project, an agent that registered itself, and the code that it was let in with."""

from collections.abc import Callable

import pytest

from webapp.kit.clock import FakeClock
from webapp.people import users
from webapp.people.agents import clients, grants
from webapp.people.agents.clients import AgentClient
from webapp.people.agents.grants import Consent
from webapp.store.contract import Store

VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
URI = "https://agent.example/cb"


@pytest.fixture
def agent(store: Store, clock: FakeClock) -> AgentClient:
    """The agent."""
    return clients.register(store, clock, name="Desk Helper", redirect_uris=(URI,))


@pytest.fixture
def let_in(store: Store, clock: FakeClock, agent: AgentClient) -> Callable[[], str]:
    """Lets the agent in; the code."""
    person = users.create(store, clock, email="ada@example.com", password="a long password", role="owner")
    with store.write() as tx:
        values = {"id": "proj_1", "now": clock()}
        tx.run(
            "INSERT INTO projects (id, name, app_name, support_email, created_at, updated_at) "
            "VALUES (:id, 'Acme', 'Acme', 'help@acme.example', :now, :now)",
            values,
        )

    def begin() -> str:
        consent = Consent(agent, person.id, "proj_1", "development", URI, CHALLENGE)
        return grants.begin(store, clock(), consent)

    return begin
