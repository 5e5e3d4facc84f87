"""Calls that wait for a yes: answered once, by the person alone, and forgotten in time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Conflict, Forbidden, NotFound
from webapp.kit.clock import DAY, MINUTE, FakeClock
from webapp.service.domain.agents import approvals, asking
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene

Call = Callable[..., ComponentRequest]


@pytest.fixture
def alice(service: Service, scene: Scene, agent: AgentSession) -> ExternalUser:
    """Whom the agent acts for."""
    return external_users.get(service.store, scene, "alice")


@pytest.fixture
def waiting(service: Service, call: Call, agent: AgentSession) -> Approval:
    """A call that waits."""
    return asking.ask(service, call(), agent)


def test_what_waits_is_listed_with_its_values_but_for_secrets(
    service: Service, scene: Scene, waiting: Approval
) -> None:
    (listed,) = approvals.recent(service, scene, "alice")
    assert (listed.id, listed.agent, listed.state) == (waiting.id, "Desk Helper", "waiting")
    values = approvals.inputs(service, listed)
    assert values["masked_props"] == ["token"] and "canary-token" not in str(values)
    assert approvals.recent(service, scene, "bob") == []


def test_a_call_is_answered_once(service: Service, alice: ExternalUser, waiting: Approval) -> None:
    assert approvals.decide(service, alice, waiting.id, yes=False).state == "refused"
    with pytest.raises(Conflict):
        approvals.decide(service, alice, waiting.id, yes=True)


def test_the_agent_cannot_answer_its_own_call(
    service: Service, alice: ExternalUser, waiting: Approval, agent: AgentSession
) -> None:
    with pytest.raises(Forbidden):
        approvals.decide(service, alice, waiting.id, yes=True, token_hash=agent.token_hash)
    assert approvals.decide(service, alice, waiting.id, yes=True, token_hash="portal").state == "approved"


def test_nobody_else_answers(service: Service, scene: Scene, waiting: Approval, clock: FakeClock) -> None:
    with service.store.write() as tx:
        bob = external_users.ensure(tx, scene, "bob", clock())
    with pytest.raises(NotFound):
        approvals.decide(service, bob, waiting.id, yes=True)


def test_what_nobody_answers_expires(
    service: Service, scene: Scene, alice: ExternalUser, waiting: Approval, clock: FakeClock
) -> None:
    clock.advance(10 * MINUTE)
    with pytest.raises(Conflict):
        approvals.decide(service, alice, waiting.id, yes=True)
    (listed,) = approvals.recent(service, scene, "alice")
    assert listed.state == "expired"


def test_only_so_many_calls_wait(service: Service, call: Call, agent: AgentSession, waiting: Approval) -> None:
    quotas: Any = {**service.settings.quotas, "USER_APPROVALS": 1}
    full = replace(service, settings=replace(service.settings, quotas=quotas))
    assert asking.ask(full, call(), agent).id == waiting.id
    with pytest.raises(Forbidden):
        asking.ask(full, call(token="another"), agent)


def test_old_calls_are_forgotten_and_a_users_go_with_them(
    service: Service, alice: ExternalUser, waiting: Approval, call: Call, agent: AgentSession, clock: FakeClock
) -> None:
    clock.advance(30 * DAY + 1)
    asking.ask(service, call(), agent)
    assert approvals.purge(service) == 1
    removing.user(service, alice)
    assert service.store.all("SELECT id FROM agent_approvals") == []
