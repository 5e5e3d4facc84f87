"""What waits for a yes, over the API: seen and answered by its person, never by the agent."""

from typing import Any

from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.kit.crypto import hash_token
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import Entry


def test_a_call_is_shown_with_its_values_and_answered_once(world: Any) -> None:
    agent = plant_agent(world.service, world.scene, "alice")
    approval = plant_approval(world.service, world.scene, agent, task_id="tsk_1")
    frontend = world.frontend()
    (listed,) = world.get("P/agents/approvals", frontend).get_json()["data"]
    assert (listed["id"], listed["state"], listed["configured_props"]) == (approval.id, "waiting", {"task_id": "tsk_1"})
    answered = world.post(f"P/agents/approvals/{approval.id}/approve", frontend).get_json()["data"]
    assert answered["state"] == "approved"
    assert world.post(f"P/agents/approvals/{approval.id}/refuse", frontend).status_code == 409


def test_the_agents_own_token_answers_nothing(world: Any) -> None:
    token = world.frontend()
    entry = Entry("token", "oa_1", hash_token(token))
    agent = sessions.enter(world.service, world.scene, "alice", entry, "Desk Helper")
    approval = plant_approval(world.service, world.scene, agent)
    assert world.post(f"P/agents/approvals/{approval.id}/approve", token).status_code == 403
    assert world.post(f"P/agents/approvals/{approval.id}/refuse", world.frontend()).status_code == 200
