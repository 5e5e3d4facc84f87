"""Calls that wait for a yes: answered once, by the person alone, and forgotten in time.

A call is asked for once, waits, and runs once after a yes.

An agent that is ended: nothing that it asked for runs any more.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Conflict, Forbidden, Invalid, NotFound
from webapp.kit.clock import DAY, MINUTE, FakeClock
from webapp.service.domain.agents import approvals, sessions
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.agents.sessions import AgentSession, Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.instance import removal
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
    return approvals.ask(service, call(), agent)


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
    assert approvals.ask(full, call(), agent).id == waiting.id
    with pytest.raises(Forbidden):
        approvals.ask(full, call(token="another"), agent)


def test_old_calls_are_forgotten_and_a_users_go_with_them(
    service: Service, alice: ExternalUser, waiting: Approval, call: Call, agent: AgentSession, clock: FakeClock
) -> None:
    clock.advance(30 * DAY + 1)
    approvals.ask(service, call(), agent)
    assert approvals.purge(service) == 1
    removal.user(service, alice)
    assert service.store.all("SELECT id FROM agent_approvals") == []


def answer(service: Service, approval: Approval, *, yes: bool) -> None:
    alice = external_users.get(service.store, approval.scene, "alice")
    approvals.decide(service, alice, approval.id, yes=yes)


def test_a_yes_lets_the_same_call_run_once(service: Service, call: Call, agent: AgentSession) -> None:
    first = approvals.ask(service, call(), agent)
    assert approvals.ask(service, call(), agent).id == first.id
    answer(service, first, yes=True)
    assert approvals.ask(service, call(token="another"), agent).state == "waiting"
    assert approvals.claim(service, approvals.ask(service, call(), agent))
    assert not approvals.claim(service, first)
    assert approvals.ask(service, call(), agent).state == "waiting"


def test_a_no_stands_for_a_while(service: Service, call: Call, agent: AgentSession, clock: FakeClock) -> None:
    first = approvals.ask(service, call(), agent)
    answer(service, first, yes=False)
    again = approvals.ask(service, call(), agent)
    assert again.state == "refused" and not approvals.claim(service, again)
    clock.advance(10 * MINUTE)
    assert approvals.ask(service, call(), agent).state == "waiting"


def test_another_agents_yes_does_not_count(service: Service, scene: Scene, call: Call, agent: AgentSession) -> None:
    other = sessions.enter(service, scene, "alice", Entry("person", "grant"), "Other")
    answer(service, approvals.ask(service, call(), agent), yes=True)
    assert approvals.ask(service, call(), other).state == "waiting"


def test_a_yes_that_comes_too_late_runs_nothing(
    service: Service, call: Call, agent: AgentSession, clock: FakeClock
) -> None:
    first = approvals.ask(service, call(), agent)
    answer(service, first, yes=True)
    clock.advance(10 * MINUTE)
    assert approvals.current(service, service.store, first).state == "expired"
    assert not approvals.claim(service, first)


def test_nobody_is_asked_for_what_could_not_run(service: Service, call: Call, agent: AgentSession) -> None:
    with pytest.raises(Invalid):
        approvals.ask(service, call(token=None), agent)
    assert approvals.recent(service, call().scene, "alice") == []


def test_what_is_kept_to_be_shown_is_what_would_run(service: Service, call: Call, agent: AgentSession) -> None:
    values = {"number": {"__lv": {"label": "Three", "value": 4}}, "dry_run": True, "note": {"authProvisionId": "apn_1"}}
    request = replace(call(**values), component=component_requests.find(service, "~/every-type", None))
    kept = approvals.inputs(service, approvals.ask(service, request, agent))["configured_props"]
    assert kept["number"] == 4 and not kept.keys() & {"dry_run", "note", "token"}


def test_what_it_asked_for_waits_no_longer_and_runs_no_more(
    service: Service, scene: Scene, agent: AgentSession, call: Callable[..., ComponentRequest]
) -> None:
    alice = external_users.get(service.store, scene, "alice")
    allowed, waiting = approvals.ask(service, call(), agent), approvals.ask(service, call(token="another"), agent)
    approvals.decide(service, alice, allowed.id, yes=True)
    approvals.end_session(service, alice, agent.id)
    assert not approvals.claim(service, allowed)
    with pytest.raises(Conflict):
        approvals.decide(service, alice, waiting.id, yes=True)
    assert [approval.state for approval in approvals.recent(service, scene, "alice")] == ["refused", "refused"]
