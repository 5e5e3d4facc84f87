"""What agents may do, which came in, and what waits for a yes, as a user and their server see it; never answered by the
agent.
"""

from typing import Any

import pytest

from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.kit.crypto import hash_token
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import Entry

ALICE = {"external_user_id": "alice"}


def choose(world: Any, token: str, **chosen: Any) -> Any:
    return world.call("PUT", "P/agents/permissions", token, json={**ALICE, **chosen})


def levels(world: Any, app: str) -> dict[str, str]:
    actions = world.get("P/agents/actions", world.frontend(), query_string={"app": app}).get_json()["data"]
    return {action["key"]: action["level"] for action in actions}


def test_a_connected_app_is_listed_with_its_actions(world: Any) -> None:
    (loose,) = world.get("P/agents/apps", world.frontend()).get_json()["data"]
    assert (loose["app"], loose["name"]) == ("", "")
    world.plant(app="sandbox", values={})
    app, _ = world.get("P/agents/apps", world.frontend()).get_json()["data"]
    assert (app["app"], app["level"], app["counts"]["off"]) == ("sandbox", None, 0)
    assert levels(world, "sandbox")["sandbox-delete-task"] == "ask"
    assert levels(world, "sandbox")["sandbox-find-tasks"] == "on"


def test_a_level_is_chosen_for_an_action_or_an_app(world: Any) -> None:
    frontend = world.frontend()
    assert choose(world, frontend, app="", level="ask").status_code == 204
    assert set(levels(world, "").values()) == {"ask"}
    assert choose(world, frontend, app="sandbox", level="off").status_code == 204
    assert set(levels(world, "sandbox").values()) == {"off"}
    assert choose(world, world.server(), component_id="sandbox-find-tasks", level="ask").status_code == 204
    assert levels(world, "sandbox")["sandbox-find-tasks"] == "ask"
    assert choose(world, frontend, app="sandbox", level=None).status_code == 204
    assert levels(world, "sandbox")["sandbox-find-tasks"] == "on"


@pytest.mark.parametrize(
    ("chosen", "status"),
    [
        ({"level": "on"}, 400),
        ({"app": "sandbox", "component_id": "sandbox-find-tasks", "level": "on"}, 400),
        ({"app": "sandbox", "level": "maybe"}, 400),
        ({"component_id": "sandbox-find-tasks", "level": None}, 400),
        ({"app": "none-such", "level": "on"}, 404),
        ({"component_id": "sandbox-new-task", "level": "on"}, 404),
    ],
)
def test_what_cannot_be_chosen(world: Any, chosen: dict[str, Any], status: int) -> None:
    assert choose(world, world.frontend(), **chosen).status_code == status


def test_an_agent_is_ended_and_let_in_again(world: Any) -> None:
    agent, frontend = plant_agent(world.service, world.scene, "alice"), world.frontend()
    assert world.call("DELETE", f"P/agents/sessions/{agent.id}", frontend).status_code == 204
    (listed,) = world.get("P/agents/sessions", frontend).get_json()["data"]
    assert listed["name"] == "Desk Helper" and listed["ended_at"]
    assert world.post(f"P/agents/sessions/{agent.id}/let_in", frontend).get_json()["data"]["ended_at"] is None


def test_an_agent_does_not_widen_what_it_may_do(world: Any) -> None:
    token = world.frontend()
    entry = Entry("token", "oa_1", hash_token(token))
    agent = sessions.enter(world.service, world.scene, "alice", entry, "Desk Helper")
    assert choose(world, token, app="sandbox", level="on").status_code == 403
    assert world.post(f"P/agents/sessions/{agent.id}/let_in", token).status_code == 403
    assert world.call("DELETE", f"P/agents/sessions/{agent.id}", token).status_code == 204


def test_a_server_names_the_user(world: Any) -> None:
    assert world.get("P/agents/apps", world.server()).status_code == 400
    assert world.get("P/agents/sessions", world.server(), query_string={"external_user_id": "nobody"}).get_json() == {
        "data": []
    }


@pytest.mark.parametrize("scope", ["connect:accounts:write", "connect:accounts:read connect:actions:*"])
def test_a_link_alone_decides_nothing(world: Any, scope: str) -> None:
    """Whoever reads a conversation reads the Connect Link in it: its token connects accounts."""
    token = world.frontend(scope=scope)
    assert choose(world, token, app="sandbox", level="on").status_code == 403
    assert world.get("P/agents/approvals", token).status_code == 403


def test_nobodys_agent_is_absent(world: Any) -> None:
    nobody = {"external_user_id": "nobody"}
    answer = world.call("DELETE", "P/agents/sessions/ags_1", world.server(), query_string=nobody)
    assert (answer.status_code, answer.get_json()["error"]) == (404, "There is no such agent.")


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
