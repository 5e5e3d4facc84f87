"""Which account a tool works with: the only one, or the one that its argument names; nobody else's."""

from typing import Any


def test_the_only_account_is_chosen_by_itself(world: Any) -> None:
    account, other = world.account(), world.account("bob")
    agent = world.agent(apps="tinykeys")
    assert "account" not in agent.tools()["make_task"]["inputSchema"]["properties"]
    assert "Project 19" in agent.text("list_options", tool="make_task", prop="project_id", query="project 19")
    named = agent.text("list_options", tool="make_task", prop="project_id", arguments={"account": account.id})
    assert "Project 0" in named
    theirs = agent.call("list_options", tool="make_task", prop="project_id", arguments={"account": other.id})
    absent = agent.call("list_options", tool="make_task", prop="project_id", arguments={"account": "apn_none"})
    assert theirs == absent and theirs["isError"]


def test_of_several_one_is_named(world: Any) -> None:
    first = world.account(name="Work")
    world.clock.advance(1)
    second = world.account(name="Home")
    agent = world.agent(apps="tinykeys")
    schema = agent.tools()["make_task"]["inputSchema"]
    assert schema["properties"]["account"]["enum"] == [first.id, second.id] and "account" in schema["required"]
    assert f"{first.id} is Work" in schema["properties"]["account"]["description"]
    assert "account" not in agent.tools()["every_type"]["inputSchema"].get("required", [])
    told = agent.text("begin_configuration", tool="make_task")
    assert told.startswith("Several accounts are connected.") and f"{second.id} (Home)" in told
    for name in (second.id, "Home"):
        assert "dyp_" in agent.text("begin_configuration", tool="make_task", arguments={"account": name})


def test_an_account_that_works_no_longer_is_reconnected(world: Any) -> None:
    account = world.account(dead=True)
    told = world.agent().text("make_task", title="A", project_id="p1")
    assert told.startswith("The Tiny Keys account works no longer.") and f"accountId={account.id}" in told
