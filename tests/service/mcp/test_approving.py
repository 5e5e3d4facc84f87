"""Actions that wait for the person's yes: each yes is for one call, and a no stands."""

from typing import Any

import pytest

from webapp.kit.clock import MINUTE
from webapp.service.domain.agents import approvals, permissions
from webapp.service.domain.projects import external_users
from webapp.service.mcp import answering, line


@pytest.fixture
def asked(world: Any) -> Any:
    """An action that alice is asked about."""
    component = world.service.catalog.component("~/every-type")
    permissions.set_action(world.service, world.scene, "alice", component, "ask")
    return world


def decide(world: Any, *, yes: bool) -> None:
    user = external_users.find(world.service.store, world.scene, "alice")
    assert user is not None
    (approval,) = approvals.recent(world.service, world.scene, "alice")
    approvals.decide(world.service, user, approval.id, yes=yes)


def test_it_waits_runs_once_after_a_yes_and_waits_again(asked: Any) -> None:
    agent = asked.agent()
    assert agent.tools()["search_tools"] and "The person is asked" in agent.text("search_tools", query="every type")
    for _ in range(2):  # it is asked for once
        told = agent.text("every_type", number=3)
        assert told.startswith("This waits for the person's yes") and "/agents" in told
    decide(asked, yes=True)
    assert '"number":3' in agent.text("every_type", number=3)
    assert agent.text("every_type", number=3).startswith("This waits")
    assert world_of("bob", asked).startswith("{")


def world_of(user: str, world: Any) -> str:
    return str(world.agent(user).text("every_type", number=3))


def test_a_no_stands_and_silence_ends_it(asked: Any) -> None:
    agent = asked.agent()
    agent.text("every_type", number=3)
    decide(asked, yes=False)
    assert agent.text("every_type", number=3).startswith("The person said no.")
    assert agent.text("every_type", number=4).startswith("This waits")
    asked.clock.advance(11 * MINUTE)
    assert agent.text("every_type", number=4).startswith("This waits")


def test_files_do_not_make_it_another_call(world: Any) -> None:
    component = world.service.catalog.component("~/writes")
    permissions.set_action(world.service, world.scene, "alice", component, "ask")
    agent = world.agent()
    agent.text("writes", names=["a.txt"])
    decide(world, yes=True)
    assert "get_url" in agent.text("writes", names=["a.txt"])


def test_on_a_stream_the_answer_is_waited_for(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(answering, "FIRST_S", 0.01)
    messages = iter(asked.agent().stream("tools/call", {"name": "every_type", "arguments": {"number": 3}}))
    assert next(messages) is None
    while not approvals.recent(asked.service, asked.scene, "alice"):
        assert next(messages) is None  # the call has not come so far
    decide(asked, yes=True)
    *_, last = list(messages)
    assert '"number":3' in last["result"]["content"][0]["text"]
