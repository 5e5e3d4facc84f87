"""The Connect Link that an agent hands over: it connects accounts and can do nothing else."""

from typing import Any

from webapp.service.domain.access import tokens
from webapp.service.domain.base.rate_limits import LIMITS


def test_its_token_is_for_the_person_and_the_app_and_for_connecting_alone(world: Any) -> None:
    for agent in (world.agent(), world.server_agent()):
        told = agent.text("make_task", title="A", project_id="p1")
        assert told.startswith("No Tiny Keys account is connected. Give the person this link")
        token = tokens.verify(world.service, told.split("token=")[1].split("&")[0])
        assert (token.external_id, token.scope, token.app) == ("alice", "connect:accounts:write", "tinykeys")


def test_links_count_towards_the_limit_of_tokens(world: Any) -> None:
    agent = world.agent()
    told = [agent.text("make_task", title="A", project_id="p1") for _ in range(LIMITS["tokens"].requests + 1)]
    assert "token=" in told[-2] and "token=" not in told[-1]


def test_an_account_that_is_refused_in_the_middle_is_reconnected_by_the_person(world: Any) -> None:
    account = world.plant("alice", values={"api_key": "a-key-that-is-refused", "region": "eu"})
    further = world.agent().call("begin_configuration", tool="make_task", arguments={"project_id": "p1"})
    values = {"title": "A", "project_id": "p1", "colour": "red"}
    named = {"dynamic_props_id": further["structuredContent"]["dynamic_props_id"]}
    told = world.agent().text("make_task", **values, **named)
    assert "no longer works; reconnect it." in told and f"accountId={account.id}" in told
    assert world.agent().text("fail", token="x").startswith("It failed with")
