"""Connect tokens that agents have sent: each is remembered until long after its end.

Agents that came in: kept once, seen from minute to minute, ended by their person.

Who an agent acts for: while its person may sign in and work there.

What is over of people's agents, forgotten.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import DAY, MINUTE, FakeClock
from webapp.people.agents import clients
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import AgentSession, Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene

BY_TOKEN = Entry("token", "oa_1", "hash-1")


def test_each_token_of_an_agent_is_its_own(service: Service, scene: Scene, clock: FakeClock) -> None:
    for token_hash in ("hash-1", "hash-2"):
        sessions.enter(service, scene, "alice", Entry("token", "oa_1", token_hash), "Desk Helper")
    sessions.enter(service, scene, "alice", Entry("client", "oa_1"), "Desk Helper")
    known = [
        sessions.is_bearer_of_agent(service.store, token_hash) for token_hash in ("hash-1", "hash-2", "hash-3", "")
    ]
    assert known == [True, True, False, False]
    clock.advance(7 * DAY + 1)
    assert sessions.purge_bearers(service) == 2


@pytest.fixture
def helper(service: Service, scene: Scene) -> AgentSession:
    """An agent of Alice's."""
    return sessions.enter(service, scene, "alice", BY_TOKEN, "Desk Helper")


def test_an_agent_is_kept_once_for_each_way_and_name(
    service: Service, scene: Scene, clock: FakeClock, helper: AgentSession
) -> None:
    clock.advance(MINUTE)
    again = sessions.enter(service, scene, "alice", replace(BY_TOKEN, token_hash="hash-2"), "Desk Helper")
    assert again.id == helper.id
    other = sessions.enter(service, scene, "alice", Entry("client", "oa_1"), "Desk Helper")
    listed = sessions.of_user(service.store, scene, "alice")
    assert {session.id for session in listed} == {helper.id, other.id}
    assert [session.used_at for session in listed] == [clock(), clock()]
    assert sessions.of_user(service.store, scene, "bob") == []


def test_an_ended_agent_gets_no_further_until_it_is_let_in(
    service: Service, scene: Scene, helper: AgentSession
) -> None:
    alice = external_users.get(service.store, scene, "alice")
    sessions.end(service, alice, helper.id)
    for name in ("Desk Helper", "Nobody you know"):
        with pytest.raises(Forbidden):
            sessions.enter(service, scene, "alice", BY_TOKEN, name)
    sessions.let_in(service, alice, helper.id)
    assert sessions.enter(service, scene, "alice", BY_TOKEN, "Desk Helper").ended_at is None


def test_nobody_else_ends_an_agent(service: Service, scene: Scene, helper: AgentSession) -> None:
    sessions.enter(service, scene, "bob", BY_TOKEN, "Desk Helper")
    with pytest.raises(NotFound):
        sessions.end(service, external_users.get(service.store, scene, "bob"), helper.id)


@pytest.mark.parametrize(
    ("name", "shown"), [("a\n\tb\x00", "a b"), ("  ", clients.NAMELESS), ("\ud800x", "x"), ("y" * 100, "y" * 80)]
)
def test_a_name_is_one_line(service: Service, scene: Scene, name: str, shown: str) -> None:
    assert sessions.enter(service, scene, "alice", BY_TOKEN, name).name == shown


def test_only_so_many_agents_come_in(service: Service, scene: Scene, helper: AgentSession) -> None:
    quotas: Any = {**service.settings.quotas, "USER_AGENTS": 1}
    full = replace(service, settings=replace(service.settings, quotas=quotas))
    with pytest.raises(Forbidden):
        sessions.enter(full, scene, "alice", BY_TOKEN, "Another")
    assert sessions.enter(full, scene, "alice", BY_TOKEN, "Desk Helper").id == helper.id


def test_agents_that_nobody_uses_are_forgotten_but_not_those_that_were_ended(
    service: Service, scene: Scene, clock: FakeClock, helper: AgentSession
) -> None:
    ended = sessions.enter(service, scene, "alice", BY_TOKEN, "Ended")
    sessions.end(service, external_users.get(service.store, scene, "alice"), ended.id)
    clock.advance(90 * DAY + 1)
    assert sessions.purge(service) == 1
    assert [session.id for session in sessions.of_user(service.store, scene, "alice")] == [ended.id]


def test_what_is_over_is_forgotten(service: Service, sign_in: Callable[..., str]) -> None:
    sign_in()
    service.clock.advance(31 * DAY)  # type: ignore[attr-defined]  # the tests' own
    assert sessions.purge_grants(service) == 3
