"""Connect tokens that agents have sent: each is remembered until long after its end."""

from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.agents import bearers, sessions
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene


def test_each_token_of_an_agent_is_its_own(service: Service, scene: Scene, clock: FakeClock) -> None:
    for token_hash in ("hash-1", "hash-2"):
        sessions.enter(service, scene, "alice", Entry("token", "oa_1", token_hash), "Desk Helper")
    sessions.enter(service, scene, "alice", Entry("client", "oa_1"), "Desk Helper")
    known = [bearers.is_agents(service.store, token_hash) for token_hash in ("hash-1", "hash-2", "hash-3", "")]
    assert known == [True, True, False, False]
    clock.advance(7 * DAY + 1)
    assert bearers.purge(service) == 2
