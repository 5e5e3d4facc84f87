"""An agent that is ended: nothing that it asked for runs any more."""

from collections.abc import Callable

import pytest

from webapp.errors import Conflict
from webapp.service.domain.agents import approvals, asking, ending
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


def test_what_it_asked_for_waits_no_longer_and_runs_no_more(
    service: Service, scene: Scene, agent: AgentSession, call: Callable[..., ComponentRequest]
) -> None:
    alice = external_users.get(service.store, scene, "alice")
    allowed, waiting = asking.ask(service, call(), agent), asking.ask(service, call(token="another"), agent)
    approvals.decide(service, alice, allowed.id, yes=True)
    ending.end(service, alice, agent.id)
    assert not asking.claim(service, allowed)
    with pytest.raises(Conflict):
        approvals.decide(service, alice, waiting.id, yes=True)
    assert [approval.state for approval in approvals.recent(service, scene, "alice")] == ["refused", "refused"]
