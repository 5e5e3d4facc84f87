"""Tools that do their work, and what agents read where they cannot."""

from typing import Any

from webapp import audit
from webapp.kit.cursors import Window
from webapp.service.domain.components import runs


def test_an_action_does_its_work_and_is_written_down_with_the_name_of_the_agent(world: Any) -> None:
    world.account()
    agent = world.agent()
    configured = agent.call("begin_configuration", tool="make_task", arguments={"project_id": "p1"})
    further = configured["structuredContent"]
    assert {"colour", "size"} <= further["inputSchema"]["properties"].keys()
    values = {"title": "Tidy up", "project_id": "p1", "colour": "red", "dynamic_props_id": further["dynamic_props_id"]}
    done = agent.call("make_task", **values)
    assert "isError" not in done and done["content"][0]["text"].startswith("Made Tidy up")
    assert '"title":"Tidy up"' in done["content"][1]["text"]
    (run,) = runs.page(world.service.store, world.scene, runs.Filter(), Window()).items
    assert (run.component_key, run.agent, run.ok, run.to_json()["agent"]) == ("~/make-task", "Robot", True, "Robot")
    (entry,) = audit.page(world.service.store, audit.Filter(noun="run"), Window()).items
    assert (entry.actor_kind, entry.actor, entry.subject_id) == ("user", "alice", run.id)
    assert entry.sentence == "Robot ran ~/make-task."


def test_further_arguments_that_are_missing_are_asked_for(world: Any) -> None:
    world.account()
    told = world.agent().text("make_task", title="A", project_id="p1")
    assert told.startswith("Send these arguments to begin_configuration first")


def test_what_goes_wrong_is_an_answer(world: Any) -> None:
    agent = world.agent()
    assert agent.call("fail", token="canary-token-value")["isError"]
    assert "canary" not in agent.text("fail", token="canary-token-value")
    assert agent.text("every_type", number=9, flag="yes") == (
        "These values are not valid: number, flag; see the details. configured_props.number: It must be at most 5. "
        "configured_props.flag: It must be true or false, not text."
    )
    assert "typo" in agent.text("every_type", typo=1)
    assert agent.text("list_options", tool="make_task") == "prop is missing; send it as text."


def test_a_tool_is_run_by_its_name(world: Any) -> None:
    told = world.agent().text("run_tool", tool="every_type", arguments={"number": 3})
    assert '"number":3' in told
