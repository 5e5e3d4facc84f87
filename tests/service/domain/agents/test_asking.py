"""A call is asked for once, waits, and runs once after a yes."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from webapp.errors import Invalid
from webapp.kit.clock import MINUTE, FakeClock
from webapp.service.domain.agents import approvals, asking, sessions
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.agents.sessions import AgentSession, Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import requests
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene

Call = Callable[..., ComponentRequest]


def answer(service: Service, approval: Approval, *, yes: bool) -> None:
    alice = external_users.get(service.store, approval.scene, "alice")
    approvals.decide(service, alice, approval.id, yes=yes)


def test_a_yes_lets_the_same_call_run_once(service: Service, call: Call, agent: AgentSession) -> None:
    first = asking.ask(service, call(), agent)
    assert asking.ask(service, call(), agent).id == first.id
    answer(service, first, yes=True)
    assert asking.ask(service, call(token="another"), agent).state == "waiting"
    assert asking.claim(service, asking.ask(service, call(), agent))
    assert not asking.claim(service, first)
    assert asking.ask(service, call(), agent).state == "waiting"


def test_a_no_stands_for_a_while(service: Service, call: Call, agent: AgentSession, clock: FakeClock) -> None:
    first = asking.ask(service, call(), agent)
    answer(service, first, yes=False)
    again = asking.ask(service, call(), agent)
    assert again.state == "refused" and not asking.claim(service, again)
    clock.advance(10 * MINUTE)
    assert asking.ask(service, call(), agent).state == "waiting"


def test_another_agents_yes_does_not_count(service: Service, scene: Scene, call: Call, agent: AgentSession) -> None:
    other = sessions.enter(service, scene, "alice", Entry("person", "grant"), "Other")
    answer(service, asking.ask(service, call(), agent), yes=True)
    assert asking.ask(service, call(), other).state == "waiting"


def test_a_yes_that_comes_too_late_runs_nothing(
    service: Service, call: Call, agent: AgentSession, clock: FakeClock
) -> None:
    first = asking.ask(service, call(), agent)
    answer(service, first, yes=True)
    clock.advance(10 * MINUTE)
    assert asking.wait(service, first, 0.01).state == "expired"
    assert not asking.claim(service, first)


def test_waiting_ends_with_the_answer(service: Service, call: Call, agent: AgentSession) -> None:
    first = asking.ask(service, call(), agent)
    assert asking.wait(service, first, 0).state == "waiting"
    assert asking.wait(service, first, 60, stopped=lambda: True).state == "waiting"
    answer(service, first, yes=True)
    assert asking.wait(service, first, 0.01).state == "approved"


def test_nobody_is_asked_for_what_could_not_run(service: Service, call: Call, agent: AgentSession) -> None:
    with pytest.raises(Invalid):
        asking.ask(service, call(token=None), agent)
    assert approvals.recent(service, call().scene, "alice") == []


def test_what_is_kept_to_be_shown_is_what_would_run(service: Service, call: Call, agent: AgentSession) -> None:
    values = {"number": {"__lv": {"label": "Three", "value": 4}}, "dry_run": True, "note": {"authProvisionId": "apn_1"}}
    request = replace(call(**values), component=requests.find(service, "~/every-type", None))
    kept = approvals.inputs(service, asking.ask(service, request, agent))["configured_props"]
    assert kept["number"] == 4 and not kept.keys() & {"dry_run", "note", "token"}
