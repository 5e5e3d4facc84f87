"""What an agent asks before it runs a tool."""

from typing import Any


def test_the_values_of_an_argument_page_by_page(world: Any) -> None:
    world.account()
    agent = world.agent()
    first = agent.call("list_options", tool="make_task", prop="project_id")["structuredContent"]
    assert first["options"][0] == {"label": "Project 0", "value": "p0"} and first["context"]["start"] == 50
    more = {"page": 1, "context": first["context"]}
    second = agent.call("list_options", tool="make_task", prop="project_id", **more)["structuredContent"]
    assert second["options"][0]["value"] == "p50"
    fixed = agent.call("list_options", tool="every_type", prop="text")["structuredContent"]
    assert [option["value"] for option in fixed["options"]] == ["a", "b"]


def test_what_cannot_be_looked_up_is_told(world: Any) -> None:
    world.account()
    agent = world.agent()
    assert "no prop of that name" in agent.text("list_options", tool="every_type", prop="nothing")
    assert agent.text("list_options", tool="make_task", prop="project_id", page=-1).startswith("page is not valid")
    assert (
        agent.send("tools/call", {"name": "list_options", "arguments": {"tool": "x", "prop": "y"}}).status_code == 400
    )
    failed = agent.call("begin_configuration", tool="make_task", arguments={"project_id": "p13"})
    assert failed["isError"] and failed["content"][0]["text"] == "Project 13 cannot be read."


def test_without_an_account_both_answer_with_a_link(world: Any) -> None:
    agent = world.agent()
    for told in (
        agent.text("list_options", tool="make_task", prop="project_id"),
        agent.text("begin_configuration", tool="make_task"),
    ):
        assert "connect.html?token=" in told
